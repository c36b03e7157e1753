import { z } from 'zod'
import { LIMITS } from './limits.ts'

const { rotationOverlapHoursMax: hoursMax, rotationOverlapHoursDefault: hoursDefault } = LIMITS
const meant = `The overlap is a whole number of hours, 0 to ${hoursMax}.`

/** For how long what a rotation replaced goes on working. */
export const OverlapHours = z
  .int(meant)
  .min(0, meant)
  .max(hoursMax, meant)
  .default(hoursDefault)
  .describe(`For how many hours the previous one continues to work; 0 ends it at once.`)
