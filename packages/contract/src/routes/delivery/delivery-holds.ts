import { z } from 'zod'
import { HeldBy } from '../../held-by.ts'
import { idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { defineRoute, READ } from '../../route.ts'

const { backlogCountMax, deliveryHoldsMax } = LIMITS

export const DeliveryHold = HeldBy.omit({ behind: true }).extend({
  destination_id: idOutput('destination'),
  name: z.string().describe('The name of the destination.'),
  deliveries: z
    .int()
    .describe(`How many deliveries it holds back, counted up to ${backlogCountMax.toLocaleString('en')}.`),
})

export const deliveryHolds = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'delivery-holds',
    summary: 'List the destinations that hold deliveries back',
    description:
      'Each destination of the project that holds deliveries back now: the cause, how many deliveries, since when, the last error and the next probe.',
    ...READ,
    status: 200,
    output: z.object({
      holds: z.array(DeliveryHold).describe(`At most ${deliveryHoldsMax}, the one that holds most first.`),
      truncated: z.boolean().describe('There are more destinations that hold deliveries back.'),
    }),
  }),
} as const
