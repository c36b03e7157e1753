import { z } from 'zod'
import { Datasets } from '../../destination-settings.ts'
import { Name } from '../../list.ts'
import { defineRoute, WRITE } from '../../route.ts'
import { destinations } from './destinations.ts'

/** A destination that this server receives itself, so that a first delivery needs no receiver. */
export const destinationSinks = {
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destination-sinks',
    summary: 'Create a sink',
    description:
      'Makes a destination whose URL is on this server. The sink checks the signature of each delivery, answers 200 and gives back what came, so that the attempt shows it. ' +
      'It stores nothing and sends nothing on. Without `datasets` it takes every new record of the project. Everything else about it is as of any destination; the signing secret is returned once. ' +
      'Refused with 400 `invalid_url` when this server may not reach its own address: set OUTBOUND_ALLOW or PUBLIC_URL.',
    ...WRITE,
    status: 201,
    showsSecret: true,
    body: z.strictObject({ name: Name.default('Sink'), datasets: Datasets.default(null) }),
    output: destinations.create.output,
  }),
} as const
