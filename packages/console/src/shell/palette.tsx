import { Dialog } from '@base-ui/react/dialog'
import { useEffect, useId, useState, type KeyboardEvent, type ReactElement } from 'react'
import { useGo } from '../data/go.tsx'
import { useNamed } from '../data/named.ts'
import { usePlace } from '../data/place.ts'
import { savedViewsOf } from '../data/saved-views.ts'
import type { Command } from './command.ts'
import { NAVIGATION_ITEMS } from './navigation.ts'
import { pageActions } from './page-actions.ts'
import { SETTINGS_ITEMS } from './settings.ts'
import { useSignOut } from './sign-out.ts'
import { toggleTheme } from './theme.ts'

type Props = {
  readonly commands: readonly Command[]
  /** Opens the sheet of keys. */
  readonly showKeys: () => void
  readonly onClose: () => void
}

const FOUND_MAX = 50
const IDS =
  /^(?:sub|rec|dlv|att|rej|whk|vie|dts|rul|iky|src|crn|wst|dst|rpl|wfl|wfi|aia|ait|air|prj|req)_[0-9a-z_]{16,64}$/

/** Search or run: screens, actions, everything that has a name, projects, and the story behind any pasted id. */
// oxlint-disable-next-line import/no-default-export -- loaded by React.lazy
export default function Palette({ commands, showKeys, onClose }: Props): ReactElement {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const found = useFound(text, { commands, showKeys })
  useEffect(() => {
    // Chromium returns a promise, which an effect must not return.
    document.getElementById(`${list}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [list, at])
  const run = (command: Command | undefined): void => {
    if (command === undefined) return
    onClose()
    command.go()
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((before) => (before + step + found.length) % Math.max(1, found.length))
    }
    if (event.key === 'Enter') run(found[at])
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-[oklch(.2_.02_230/.2)] dark:bg-[oklch(0_0_0/.5)]" />
        <Dialog.Popup className="fixed top-[14vh] left-1/2 z-40 w-[calc(100vw-32px)] max-w-[560px] -translate-x-1/2 animate-appear overflow-hidden rounded-page border border-line bg-raised shadow-float outline-none">
          <Dialog.Title className="sr-only">Search or run</Dialog.Title>
          <input
            autoFocus
            role="combobox"
            aria-expanded
            aria-controls={list}
            aria-activedescendant={found[at] === undefined ? undefined : `${list}-${at}`}
            aria-label="Search or run"
            placeholder="A screen, name, action or ID"
            value={text}
            onChange={(event) => {
              setText(event.target.value)
              setAt(0)
            }}
            onKeyDown={onKey}
            className="h-12 w-full border-b border-line px-4 text-lead outline-none"
          />
          <ul id={list} role="listbox" aria-label="Found" className="max-h-[50vh] overflow-y-auto p-1.5">
            {found.map((command, index) => (
              <li
                key={`${index} ${command.label}`}
                id={`${list}-${index}`}
                role="option"
                aria-selected={index === at}
                onPointerMove={() => setAt(index)}
                onClick={() => run(command)}
                className="group flex h-8 items-center rounded-row px-2.5 aria-selected:bg-accent-soft dark:aria-selected:bg-press"
              >
                <span className="truncate">{command.label}</span>
                <span className="ml-auto pl-4 text-data text-ink-3 group-aria-selected:text-ink-2">{command.hint}</span>
              </li>
            ))}
          </ul>
          {found.length === 0 && (
            <p className="px-4 pb-4 text-ink-3">
              No results. Paste an ID or the Request-Id of an ingest request to see its events.
            </p>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function useFound(text: string, { commands, showKeys }: Pick<Props, 'commands' | 'showKeys'>): readonly Command[] {
  const go = useGo()
  const { projects, project, me } = usePlace()
  const named = useNamed()
  const signOut = useSignOut()
  // The actions of the page at the moment when the palette opened. Named commands of a screen come before its buttons.
  const [onPage] = useState(pageActions)
  const sought = text.trim().toLowerCase()
  if (IDS.test(sought)) return [{ label: `Show the story of ${sought}`, go: () => go('events', { sel: sought }) }]
  const all: readonly Command[] = [
    ...NAVIGATION_ITEMS.map(({ screen, label, key }) => ({ label, hint: `g ${key}`, go: () => go(screen) })),
    ...SETTINGS_ITEMS.filter(({ isForOperators }) => isForOperators !== true || me.operator).map(
      ({ screen, label, hint }) => ({ label, hint, go: () => go(screen) }),
    ),
    ...commands,
    ...SETTINGS_ITEMS.flatMap(({ screen, actions = [] }) =>
      actions.map(({ label, search }) => ({ label, go: () => go(screen, search) })),
    ),
    ...NAVIGATION_ITEMS.flatMap(({ screen, actions = [] }) =>
      actions.map(({ label, search }) => ({ label, go: () => go(screen, search) })),
    ),
    ...onPage,
    ...NAVIGATION_ITEMS.flatMap(({ screen, label, views = [] }) =>
      views.map((view) => ({ label: view.label, hint: `view of ${label}`, go: () => go(screen, view.search) })),
    ),
    ...NAVIGATION_ITEMS.flatMap(({ screen, label }) =>
      savedViewsOf(project.id, screen).map(({ name, search }) => ({
        label: name,
        hint: `view of ${label}`,
        go: () => go(screen, search),
      })),
    ),
    ...projects
      .filter(({ id }) => id !== project.id)
      .map(({ name, slug }) => ({
        label: `Project ${name}`,
        hint: 'switch',
        go: () => location.assign(`/${me.workspace.slug}/${slug}/events`),
      })),
    { label: 'Light or dark', hint: 't', go: toggleTheme },
    { label: 'Keyboard shortcuts', hint: '?', go: showKeys },
    { label: 'Guides', hint: 'opens a page', go: () => void open('/docs', '_blank', 'noopener') },
    { label: 'API reference', hint: 'opens a page', go: () => void open('/docs/api', '_blank', 'noopener') },
    { label: 'Account', hint: 'password, passkeys, sessions', go: () => location.assign('/account') },
    { label: 'Sign out', go: signOut },
  ]
  // Names are listed only for a search, because there can be hundreds.
  const names: readonly Command[] =
    sought === ''
      ? []
      : named.map(({ screen, kind, id, name, light }) => ({
          label: name,
          hint: light === undefined ? kind : `${kind}, ${light}`,
          go: () => go(screen, { sel: id }),
        }))
  return unique([...all, ...names])
    .filter(({ label, hint = '' }) =>
      sought.split(/\s+/).every((word) => `${label} ${hint}`.toLowerCase().includes(word)),
    )
    .slice(0, FOUND_MAX)
}

/** The first of several commands with the same label, because a screen and its button can offer the same. */
function unique(commands: readonly Command[]): readonly Command[] {
  const seen = new Set<string>()
  return commands.filter(({ label, hint = '' }) => {
    const known = /^(?:view of|switch|endpoint|ingest key|rule|destination|workflow|agent|source|dataset)/.test(hint)
      ? `${label} ${hint}`
      : label
    if (seen.has(known)) return false
    seen.add(known)
    return true
  })
}
