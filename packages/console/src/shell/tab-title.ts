import { deliveryLight } from '@postroad/contract/lights'
import { useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Tail } from '../data/tail.ts'
import { useTail } from '../data/use-tail.ts'
import { NAVIGATION_ITEMS } from './navigation.ts'
import { SETTINGS_ITEMS } from './settings.ts'

/** The title of the tab names the screen, the unseen events, and the number of known failing deliveries. Its icon shows the same as a dot. */
export function useTabTitle(): void {
  const tail = useTail()
  const failing = failingIn(tail)
  const unseen = useUnseen(tail)
  const screen = useLocation().pathname.split('/')[3] ?? ''
  const label = [...NAVIGATION_ITEMS, ...SETTINGS_ITEMS].find((item) => item.screen === screen)?.label ?? 'Postroad'
  const dot = failing > 0 ? 'failing' : unseen > 0 ? 'unseen' : tail.status === 'live' ? 'live' : 'none'
  useEffect(() => {
    document.title = `${unseen > 0 ? `(${unseen > UNSEEN_SHOWN_MAX ? `${UNSEEN_SHOWN_MAX}+` : unseen}) ` : ''}${failing > 0 ? `● ${failing} failing · ` : ''}${label} · Postroad`
  }, [failing, unseen, label])
  useEffect(() => {
    document.querySelector('#icon')?.setAttribute('href', iconWith(dot))
  }, [dot])
}

const UNSEEN_SHOWN_MAX = 99

/** Events that arrived since the person left the tab. */
function useUnseen(tail: Tail): number {
  const [leftAt, setLeftAt] = useState<number | undefined>()
  useEffect(() => {
    const changed = (): void => setLeftAt(document.hidden ? (tail.arrivals[0]?.number ?? 0) : undefined)
    document.addEventListener('visibilitychange', changed)
    return () => document.removeEventListener('visibilitychange', changed)
  }, [tail])
  return leftAt === undefined
    ? 0
    : tail.arrivals.filter(({ number, kind }) => number > leftAt && kind === 'record').length
}

const DOTS = {
  none: '',
  live: '<circle cx="19" cy="19" r="4" fill="#4fc3d0" stroke="#171f25" stroke-width="1.5"/>',
  unseen: '<circle cx="18" cy="18" r="6" fill="#4fc3d0" stroke="#fff" stroke-width="1.5"/>',
  failing: '<rect x="12" y="12" width="12" height="12" rx="3" fill="#e5484d" stroke="#fff" stroke-width="1.5"/>',
} as const

/** The icon of the page (index.html), with a dot in its corner. */
function iconWith(dot: keyof typeof DOTS): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#171f25"/><path d="M4 12h7m0 0c4 0 4-6 9-6m-9 6h9m-9 0c4 0 4 6 9 6" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"/>${DOTS[dot]}</svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}

export function failingIn(tail: Tail): number {
  let failing = 0
  for (const of of tail.deliveries.values())
    for (const delivery of of.values()) {
      const { tone } = deliveryLight(tail.withHold(delivery))
      if (tone === 'fail' || tone === 'retry') failing += 1
    }
  return failing
}
