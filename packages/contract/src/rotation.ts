import { z } from 'zod'
import { LIMITS } from './limits.ts'

const { rotationOverlapHoursMax: hoursMax, rotationOverlapHoursDefault: hoursDefault } = LIMITS
const meant = `The overlap is a whole number of hours, 0 to ${hoursMax}.`

/** How long the previous secret or URL continues to work after a rotation. */
export const OverlapHours = z
  .int(meant)
  .min(0, meant)
  .max(hoursMax, meant)
  .default(hoursDefault)
  .describe(`The number of hours for which the previous one continues to work; 0 ends it at once.`)

/** Whether a rotation may end the overlap of an earlier one. For secrets, only the caller can allow it. */
export const EndOverlap = z
  .boolean()
  .default(false)
  .describe(
    'Whether this call may end an overlap that is still running. false: 409 `overlap_running` while the previous one still works.',
  )

/** Contract part 3 fixes the default for URLs: a second rotation within the overlap ends the older URL immediately. */
export const EndUrlOverlap = z
  .boolean()
  .default(true)
  .describe(
    'Whether this call may end an overlap that is still running. Send false to get 409 `overlap_running` instead while the previous URL still works.',
  )
