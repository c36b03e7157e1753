import type { AlertChange } from '@postroad/contract'

type Severity = 'warning' | 'critical'

export type Standing = {
  /** Whether the cause is there now. */
  readonly isTrue: boolean
  readonly severity: Severity
  /** The state that the events of the alert have reported so far. */
  readonly announced: Severity | 'resolved' | null
  /** Its events are never made. */
  readonly isSilent: boolean
  readonly mute: 'none' | 'muted' | 'ended'
  readonly isQuiet: boolean
}

/** The event that an alert makes now, and whether quiet hours hold one back. Pure. */
export function nextStep(alert: Standing): { readonly change: AlertChange | null; readonly held: boolean } {
  const change = wanted(alert)
  if (change === null) return { change, held: false }
  const passes = !alert.isQuiet || (alert.isTrue && alert.severity === 'critical')
  return passes ? { change, held: false } : { change: null, held: true }
}

function wanted({ isTrue, severity, announced, isSilent, mute }: Standing): AlertChange | null {
  if (isSilent) return null
  // Nobody needs to hear that something has ended that nobody heard of.
  if (!isTrue) return announced === null || announced === 'resolved' ? null : 'resolved'
  if (mute === 'muted') return null
  if (announced === null) return 'opened'
  if (announced === 'warning' && severity === 'critical') return 'escalated'
  return mute === 'ended' ? 'reminded' : null
}
