import type { ReactElement } from 'react'

/** The logo: three lines that leave one line. */
export function Mark(): ReactElement {
  return (
    <span aria-hidden className="grid size-[22px] flex-none place-items-center rounded-row bg-ink text-on-ink">
      <svg
        width="14"
        height="14"
        viewBox="0 0 14 14"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
      >
        <path d="M1.5 7h3c2 0 2-4.5 4-4.5h4M4.5 7c2 0 2 4.5 4 4.5h4M4.5 7h8" />
      </svg>
    </span>
  )
}
