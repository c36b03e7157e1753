import { useState, type ReactElement } from 'react'
import { JsonField } from '../../../ui/json-field.tsx'
import type { Definition } from './definition.ts'
import type { Editor } from './use-editor.ts'

/** The name of a fault that concerns the whole text. */
export const TEXT = 'json text'

/** The whole definition as JSON, as the API takes it. Valid JSON changes the canvas too. */
export function JsonView({ editor, disabled }: { readonly editor: Editor; readonly disabled: boolean }): ReactElement {
  const [text, setText] = useState(() => JSON.stringify(editor.definition, null, 2))
  const problem = editor.faultOf(TEXT)?.said
  const change = (next: string): void => {
    setText(next)
    if (disabled) return
    const read = definitionIn(next)
    if (typeof read === 'string') {
      editor.setFault(TEXT, { text: next, said: `${read} Correct or discard it before you go back to the canvas.` })
      return
    }
    editor.replace({ ...editor.definition, ...read })
  }
  return (
    <div tabIndex={0} role="group" aria-label="Definition as JSON" className="min-h-0 flex-1 overflow-y-auto px-5 py-4">
      <JsonField
        label="Definition"
        value={text}
        change={change}
        rows={20}
        grows
        hint={
          problem ??
          (disabled
            ? 'The stored definition. Changes here are not saved.'
            : 'The format that the API accepts. `active` is ignored here. Use the button above to turn the workflow on or off.')
        }
      />
    </div>
  )
}

/** A definition in a text, or the sentence about its fault. The server checks the steps. */
function definitionIn(text: string): Partial<Definition> | string {
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read !== 'object' || read === null || !('steps' in read) || !Array.isArray(read.steps))
      return 'The definition must be an object with a list named steps.'
    if (!read.steps.every(isStep))
      return 'Each step must be an object with an id and a type. A wait for an event must have conditions.'
    if ('entry_conditions' in read && !isConditions(read.entry_conditions))
      return 'entry_conditions must be a list of conditions.'
    if (
      ['name', 'slug', 'entry_dataset'].some(
        (name) => typeof Object.entries(read).find(([of]) => of === name)?.[1] !== 'string',
      )
    )
      return 'name, slug and entry_dataset must be strings.'
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server refuses faults in the try
    return { entry_conditions: [], ...read, active: undefined } as Partial<Definition>
  } catch {
    return 'This is not valid JSON.'
  }
}

const TYPES = new Set(['delay', 'wait_for_event', 'branch', 'deliver', 'emit_event', 'run_agent'])

/** Whether the canvas can show it: each step has an id and a known type, and each branch has lists of steps. */
function isStep(step: unknown): boolean {
  if (typeof step !== 'object' || step === null || !('id' in step) || !('type' in step)) return false
  if (typeof step.id !== 'string' || typeof step.type !== 'string' || !TYPES.has(step.type)) return false
  if ('name' in step && typeof step.name !== 'string') return false
  if (step.type === 'wait_for_event' && !('conditions' in step && isConditions(step.conditions))) return false
  if (step.type !== 'branch') return true
  const otherwise = 'else' in step ? step.else : []
  return (
    'branches' in step &&
    Array.isArray(step.branches) &&
    step.branches.every(isArm) &&
    Array.isArray(otherwise) &&
    otherwise.every(isStep)
  )
}

function isArm(arm: unknown): boolean {
  if (typeof arm !== 'object' || arm === null || !('name' in arm) || !('steps' in arm)) return false
  return Array.isArray(arm.steps) && arm.steps.every(isStep) && isConditions('conditions' in arm ? arm.conditions : [])
}

function isConditions(conditions: unknown): boolean {
  return (
    Array.isArray(conditions) &&
    conditions.every((one) => typeof one === 'object' && one !== null && 'path' in one && typeof one.path === 'string')
  )
}
