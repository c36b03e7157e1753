import type { ReactElement } from 'react'
import { distanceText, useNow } from './time.tsx'

const FULL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })

/** A time in the past, relative to now: "3 min ago". */
export function Ago({ at }: { readonly at: string }): ReactElement {
  const past = useNow(10_000) - Date.parse(at)
  return (
    <time dateTime={at} title={FULL.format(new Date(at))}>
      {distanceText(Math.max(0, past))}
    </time>
  )
}
