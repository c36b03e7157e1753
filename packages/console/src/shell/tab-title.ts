import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Tail } from '../data/tail.ts'
import { useTail } from '../data/use-tail.ts'
import { NAVIGATION_ITEMS } from './navigation.ts'

/** The tab says where it is, and how many of the deliveries it knows are failing. */
export function useTabTitle(): void {
  const failing = failingIn(useTail())
  const screen = useLocation().pathname.split('/')[3] ?? ''
  const label = NAVIGATION_ITEMS.find((item) => item.screen === screen)?.label ?? 'Postroad'
  useEffect(() => {
    document.title = `${failing > 0 ? `● ${failing} failing · ` : ''}${label} · Postroad`
  }, [failing, label])
}

export function failingIn(tail: Tail): number {
  let failing = 0
  for (const of of tail.deliveries.values()) for (const { state } of of.values()) if (state === 'failed' || state === 'retrying') failing += 1
  return failing
}
