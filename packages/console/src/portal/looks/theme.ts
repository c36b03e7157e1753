import { useEffect, useState } from 'react'
import type { AccentTheme } from '../../ui/accent.ts'
import type { Branding } from '../data/server.ts'

export type ThemeChoice = 'light' | 'dark' | 'system'

const KEY = 'postroad.portal.theme'
const system = matchMedia('(prefers-color-scheme: dark)')

/** Browsers refuse a store to some frames; the choice then lasts until the page is closed. */
function stored(): ThemeChoice {
  try {
    const text = localStorage.getItem(KEY)
    return text === 'light' || text === 'dark' ? text : 'system'
  } catch {
    return 'system'
  }
}

function store(choice: ThemeChoice): void {
  try {
    if (choice === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, choice)
  } catch {
    // The choice lasts until the page is closed.
  }
}

export type Theming = {
  readonly theme: AccentTheme
  readonly choice: ThemeChoice
  /** Undefined where the person has no choice: the portal has one theme, or the page around it decides. */
  readonly choose: ((choice: ThemeChoice) => void) | undefined
}

/** The theme of the portal, the page around it, the person's choice or the system: the first one that is set. */
export function useTheme(mode: Branding['mode'], asked: ThemeChoice | undefined): Theming {
  const [choice, setChoice] = useState(stored)
  const [isDark, setDark] = useState(system.matches)
  useEffect(() => {
    const look = (): void => setDark(system.matches)
    system.addEventListener('change', look)
    return () => system.removeEventListener('change', look)
  }, [])
  const wanted = mode === 'auto' ? (asked ?? choice) : mode
  return {
    theme: wanted === 'system' ? (isDark ? 'dark' : 'light') : wanted,
    choice,
    choose:
      mode !== 'auto' || asked !== undefined
        ? undefined
        : (next) => {
            store(next)
            setChoice(next)
          },
  }
}
