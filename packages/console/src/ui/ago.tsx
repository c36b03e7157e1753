import type { ReactElement } from 'react'
import { fullText } from './moments.ts'
import { distanceText, useNow } from './time.tsx'

/** A time in the past, relative to now: "3 min ago". */
export function Ago({ at }: { readonly at: string }): ReactElement {
  const past = useNow(10_000) - Date.parse(at)
  return (
    <time dateTime={at} title={fullText(at)}>
      {distanceText(Math.max(0, past))}
    </time>
  )
}
