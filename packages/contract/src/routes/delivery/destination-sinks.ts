import { z } from 'zod'
import { Datasets } from '../../destination-settings.ts'
import { Name } from '../../list.ts'
import { defineRoute, WRITE } from '../../route.ts'
import { destinations } from './destinations.ts'

/** A destination that this server receives itself, so a first delivery needs no other receiver. */
export const destinationSinks = {
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destination-sinks',
    summary: 'Create a sink',
    description:
      'Creates a destination whose URL is on this server. The sink verifies the signature of each delivery, answers 200, and returns the headers and body that it received, so the attempt shows them. ' +
      'It stores and forwards nothing. Without `datasets` it receives every new record of the project. In all other respects it is an ordinary destination. The signing secret is returned once. ' +
      'Refused with 400 `invalid_url` when this server may not reach its own address: set OUTBOUND_ALLOW or PUBLIC_URL.',
    ...WRITE,
    status: 201,
    showsSecret: true,
    body: z.strictObject({ name: Name.default('Sink'), datasets: Datasets.default(null) }),
    output: destinations.create.output,
  }),
} as const
