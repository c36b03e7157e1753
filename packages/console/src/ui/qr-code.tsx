import { encode } from 'uqr'
import type { ReactElement } from 'react'

/** A text as a QR code. It is dark on white in both themes, because not every camera reads the reverse. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }): ReactElement {
  const { size, data } = encode(text, { border: 3 })
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-44 rounded-field border border-line bg-white"
    >
      <path d={dark.join('')} fill="black" />
    </svg>
  )
}
