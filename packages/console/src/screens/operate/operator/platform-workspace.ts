import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Tone } from '../../../ui/glyph.tsx'

/** A workspace as operators see it. */
export type PlatformWorkspace = RouteAnswer<Routes['platformWorkspaces']['list']>['workspaces'][number]

export const TONES: Readonly<Record<PlatformWorkspace['state'], Tone>> = {
  active: 'ok',
  suspended: 'fail',
  closed: 'paused',
}

/** "1,204 of 10,000". */
export function usedText(used: number | null, max: number | null): string {
  if (used === null) return 'not metered on this plan'
  return max === null ? used.toLocaleString('en') : `${used.toLocaleString('en')} of ${max.toLocaleString('en')}`
}
