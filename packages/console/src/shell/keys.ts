import { useEffect, useRef } from 'react'

/** The action of each key, if it has one now: `j`, `Enter`, `Escape`, `?`, or two in a row such as `g e`. */
export type Keys = Readonly<Record<string, ((event: KeyboardEvent) => void) | undefined>>

const SEQUENCE_MS = 1_000
const OFF = 'postroad.single-keys'

/** A person can turn single keys off (WCAG 2.1.4): speech input would press them by accident. */
export function singleKeysAreOn(): boolean {
  return localStorage.getItem(OFF) !== 'off'
}

export function turnSingleKeys(on: boolean): void {
  if (on) localStorage.removeItem(OFF)
  else localStorage.setItem(OFF, 'off')
}

/** The keys of a component; off in fields and under a dialog or a menu. The innermost one that knows a key gets it. */
export function useKeys(keys: Keys): void {
  const now = useRef(keys)
  useEffect(() => {
    now.current = keys
  })
  useEffect(() => listen((name) => now.current[name]), [])
}

type Lookup = (name: string) => ((event: KeyboardEvent) => void) | undefined
const layers: Lookup[] = []
let first: { readonly key: string; readonly at: number } | undefined

function listen(lookup: Lookup): () => void {
  if (layers.length === 0) addEventListener('keydown', pressed)
  layers.push(lookup)
  return () => {
    layers.splice(layers.indexOf(lookup), 1)
    if (layers.length === 0) removeEventListener('keydown', pressed)
  }
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  if (event.metaKey || event.ctrlKey || event.altKey) {
    if (event.key.toLowerCase() === 'k' && !event.altKey) run('mod k', event)
  } else if (
    !isTyping(event.composedPath()[0]) &&
    singleKeysAreOn() &&
    document.querySelector('[role=dialog],[role=menu],[role=listbox]') === null
  ) {
    pressedAlone(event)
  }
}

function pressedAlone(event: KeyboardEvent): void {
  const { key } = event
  const sequence =
    first !== undefined && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${key.toLowerCase()}` : undefined
  first = undefined
  if (sequence !== undefined && run(sequence, event)) return
  // A focused button, link or summary handles its own Enter and space.
  if ((key === 'Enter' || key === ' ') && isPressable(event.target)) return
  if (run(event.shiftKey && key.length === 1 && key.toLowerCase() !== key ? `shift ${key.toLowerCase()}` : key, event))
    return
  first = { key: key.toLowerCase(), at: event.timeStamp }
}

function run(name: string, event: KeyboardEvent): boolean {
  const action = layers.findLast((lookup) => lookup(name) !== undefined)?.(name)
  if (action === undefined) return false
  event.preventDefault()
  action(event)
  return true
}

/** `target` is the innermost one, because an editor is in a shadow root. */
function isTyping(target: EventTarget | undefined): boolean {
  if (target instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(target.type)) return false
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}

function isPressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('button,a,summary,[role=tab]') !== null
}
