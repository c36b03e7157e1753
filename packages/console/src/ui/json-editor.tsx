import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { linter } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef, type ReactElement } from 'react'

export type JsonFieldProps = {
  readonly label: string
  readonly value: string
  readonly change: (text: string) => void
  readonly rows: number
  readonly hint?: string | undefined
  /** ⌘ Enter or Ctrl Enter. */
  readonly onSubmit?: () => void
  /** Underlines text that is not JSON; off where any text is valid. */
  readonly checksJson?: boolean
  /** The editor is as high as its text, with at least `rows` lines; the page scrolls, not the editor. */
  readonly grows?: boolean
}

const COLORS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--j-key)' },
  { tag: tags.string, color: 'var(--j-str)' },
  { tag: tags.number, color: 'var(--j-num)' },
  { tag: [tags.bool, tags.null], color: 'var(--j-bool)' },
])

const LOOKS = EditorView.theme({
  '&': { fontSize: '12px', color: 'var(--ink)', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-data)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-3)', border: 'none' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-line)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--press)', outline: '1px solid var(--line-2)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '4px',
  },
  '.cm-diagnostic-error': { borderLeft: '2px solid var(--fail)' },
})

const parse = jsonParseLinter()

/**
 * The editor is in a shadow root. Its styles there are constructed style sheets, to which the policy of the page (no
 * inline styles) does not apply. Tab leaves the editor like any other field.
 */
// oxlint-disable-next-line import/no-default-export -- loaded by React.lazy
export default function JsonEditor({
  label,
  value,
  change,
  onSubmit,
  rows,
  checksJson = true,
  grows = false,
}: JsonFieldProps): ReactElement {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const now = useRef({ change, onSubmit })
  useEffect(() => {
    now.current = { change, onSubmit }
  })
  const begin = useRef(value)
  useEffect(() => {
    const root = host.current?.shadowRoot ?? host.current?.attachShadow({ mode: 'open' })
    if (root === undefined) return undefined
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: begin.current,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          json(),
          syntaxHighlighting(COLORS),
          LOOKS,
          ...(checksJson
            ? [linter((of) => (of.state.doc.toString().trim() === '' ? [] : parse(of)), { delay: 300 })]
            : []),
          keymap.of([
            { key: 'Mod-Enter', run: () => (now.current.onSubmit?.(), true) },
            ...defaultKeymap,
            ...historyKeymap,
          ]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, 'aria-multiline': 'true', spellcheck: 'false' }),
          EditorView.updateListener.of(
            (update) => update.docChanged && now.current.change(update.state.doc.toString()),
          ),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [label, checksJson])
  useEffect(() => {
    const editor = view.current
    if (editor !== undefined && editor.state.doc.toString() !== value)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])
  return (
    <div
      ref={host}
      style={{ [grows ? 'minHeight' : 'height']: rows * 20 + 18 }}
      className="overflow-hidden rounded-field border border-line-2 bg-surface focus-within:border-accent focus-within:shadow-[0_0_0_1px_var(--accent)]"
    />
  )
}
