import { LIMITS } from '@postroad/contract'
import { listIn } from '../../../parts/text-list.ts'

const UNITS = [
  { letter: 'd', seconds: 86_400 },
  { letter: 'h', seconds: 3_600 },
  { letter: 'm', seconds: 60 },
  { letter: 's', seconds: 1 },
] as const

/** The waits of a schedule as a person writes them: `0s, 5s, 2m, 1h`. */
export function scheduleText(seconds: readonly number[]): string {
  return seconds.map(waitText).join(', ')
}

export function waitText(seconds: number): string {
  const unit = UNITS.find((one) => seconds >= one.seconds && seconds % one.seconds === 0) ?? UNITS[3]
  return `${seconds / unit.seconds}${unit.letter}`
}

/** The waits in a text, or the sentence about its fault. */
export function readSchedule(text: string): { readonly seconds: readonly number[] } | { readonly problem: string } {
  const waits = listIn(text)
  if (waits.length === 0 || waits.length > LIMITS.retryScheduleStepsMax)
    return { problem: `A schedule has 1 to ${LIMITS.retryScheduleStepsMax} waits, such as 0s, 30s, 5m, 1h.` }
  const seconds = waits.map(waitIn)
  const wrong = waits.find((_wait, index) => Number.isNaN(seconds[index]))
  if (wrong !== undefined)
    return { problem: `“${wrong}” is not a wait. Write a number and s, m, h or d, such as 30s or 2h.` }
  if (seconds.some((one) => one > LIMITS.retryStepSecondsMax))
    return { problem: `A wait is at most ${waitText(LIMITS.retryStepSecondsMax)}.` }
  return { seconds }
}

function waitIn(text: string): number {
  const [, digits = '', letter = 's'] = /^(\d{1,9})\s*([smhd])?$/.exec(text) ?? []
  const unit = UNITS.find((one) => one.letter === letter)
  return digits === '' || unit === undefined ? Number.NaN : Number(digits) * unit.seconds
}
