import { z } from 'zod'
import { ERROR_CODES } from './error-codes.ts'
import { HOLD_CAUSES } from './holds.ts'
import { idOutput } from './ids.ts'
import { Timestamp } from './list.ts'

/** The reason why a destination holds back a delivery that would be sent otherwise. */
export const HeldBy = z
  .object({
    cause: z
      .enum(HOLD_CAUSES)
      .describe(
        '`destination_disabled`: Postroad has turned the destination off, and disabled_reason of the destination gives the cause. `destination_off`: a person has turned it off. `breaker_open`: too many attempts failed, so Postroad sends only a probe from time to time. ' +
          '`breaker_recovering`: a probe succeeded, and each success lets more requests through. `rate_limit`: the rate limit of the destination allows no attempt now. ' +
          '`in_flight`: the destination has as many requests in progress as max_in_flight allows. `order`: an earlier delivery with the same order key has not ended.',
      ),
    last_error: z
      .enum(ERROR_CODES)
      .nullable()
      .describe('The error of the last attempt at the destination, if it failed.'),
    last_status: z.int().nullable().describe('The status of the response to that attempt.'),
    since: Timestamp.nullable().describe(
      'The time at which the breaker opened, the destination was turned off, or the delivery became due.',
    ),
    next_probe_at: Timestamp.nullable().describe(
      'The time at which an open breaker lets the next probe through. null: at once, or no probe is planned.',
    ),
    behind: idOutput('delivery').nullable().describe('The earlier delivery that this one waits for (`order`).'),
  })
  .describe('The reason why the destination holds the delivery back; null: it does not hold it back.')
