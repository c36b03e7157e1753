import { z } from 'zod'
import { HeldBy } from '../../held-by.ts'
import { idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { defineRoute, READ } from '../../route.ts'

const { backlogCountMax, deliveryHoldsCountedMax, deliveryHoldsMax } = LIMITS

export const DeliveryHold = HeldBy.omit({ behind: true }).extend({
  destination_id: idOutput('destination'),
  name: z.string().describe('The name of the destination.'),
  deliveries: z
    .int()
    .describe(
      `How many deliveries it holds back, counted up to ${backlogCountMax.toLocaleString('en')}; of many destinations less far, about ${deliveryHoldsCountedMax.toLocaleString('en')} together.`,
    ),
  more: z.boolean().describe('true: there are more than were counted.'),
})

export const DeliveryHolds = z.object({
  holds: z.array(DeliveryHold).describe(`At most ${deliveryHoldsMax}, largest number of deliveries first.`),
  truncated: z.boolean().describe('true: more destinations hold deliveries back.'),
})

export const deliveryHolds = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'delivery-holds',
    summary: 'List the destinations that hold deliveries back',
    description:
      'Each destination of the project that holds deliveries back now, with the cause, the number of deliveries, the start, the last error and the next probe.',
    ...READ,
    status: 200,
    output: DeliveryHolds,
  }),
} as const
