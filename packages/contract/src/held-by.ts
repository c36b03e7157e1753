import { z } from 'zod'
import { ERROR_CODES } from './error-codes.ts'
import { HOLD_CAUSES } from './holds.ts'
import { idOutput } from './ids.ts'
import { Timestamp } from './list.ts'

/** What holds a delivery back that would be sent otherwise. */
export const HeldBy = z
  .object({
    cause: z
      .enum(HOLD_CAUSES)
      .describe(
        '`destination_disabled`: Postroad has switched the destination off, and disabled_reason of the destination says why. `destination_off`: a person has switched it off. `breaker_open`: too many attempts failed, so only a probe is sent now and then. ' +
          '`breaker_recovering`: a probe succeeded, and the destination gets more requests with each success. `rate_limit`: the rate limit of the destination allows no attempt now. ' +
          '`in_flight`: the destination has as many requests under way as max_in_flight allows. `order`: an earlier delivery with the same order key has not ended.',
      ),
    last_error: z
      .enum(ERROR_CODES)
      .nullable()
      .describe('Why the last attempt at the destination failed, if it failed.'),
    last_status: z.int().nullable().describe('The status that the destination answered then.'),
    since: Timestamp.nullable().describe(
      'Since when: the breaker is open, the destination is off, or the delivery is due.',
    ),
    next_probe_at: Timestamp.nullable().describe(
      'When an open breaker lets the next probe through. null: at once, or there is no probe.',
    ),
    behind: idOutput('delivery').nullable().describe('The earlier delivery that this one waits for (`order`).'),
  })
  .describe('Why the destination holds the delivery back; null: the destination does not hold it back.')
