import { z } from 'zod'
import { idInput } from '../../ids.ts'
import { defineRoute, READ } from '../../route.ts'
import { SentBody } from '../../sent-request.ts'
import { Attempt } from './deliveries.ts'

export const attempts = {
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'attempts/{id}',
    summary: 'Get an attempt',
    description:
      'One attempt of a delivery with its request as it was sent. Bodies of requests are not stored: Postroad renders the body again from the event and the template of the destination, and `body.as_sent` says whether it is the one that was sent.',
    ...READ,
    status: 200,
    params: z.object({ id: idInput('attempt') }),
    output: z.object({
      attempt: Attempt,
      body: SentBody.nullable().describe('null: the attempt has no request.'),
    }),
  }),
} as const
