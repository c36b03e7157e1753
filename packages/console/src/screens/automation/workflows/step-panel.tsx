import { LIMITS } from '@postroad/contract'
import { ArrowDown, ArrowUp, Copy, Plus, X } from 'lucide-react'
import type { ReactElement } from 'react'
import { useAllAgents } from '../../../data/automation-lists.ts'
import { useDestinations } from '../../../data/names.ts'
import { DatasetField } from '../../../parts/dataset-field.tsx'
import { StepConditions } from '../../../parts/workflow/step-conditions.tsx'
import { StepMembers } from '../../../parts/workflow/step-fields.tsx'
import { TYPE_WORDS } from '../../../parts/workflow/step-text.ts'
import { placedIn, withArm, type StepNode } from '../../../parts/workflow/tree.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Field, TextArea } from '../../../ui/field.tsx'
import { START, type Editor } from './use-editor.ts'
import type { Try } from './use-try.ts'

type Props = { readonly at: string; readonly editor: Editor; readonly tried: Try; readonly disabled: boolean }

/** The settings of the start, or of one step. */
export function StepPanel(props: Props): ReactElement | null {
  const { at, editor } = props
  if (at === START) return <StartFields {...props} />
  const node = placedIn(editor.draft.nodes).find((one) => one.node.key === at)?.node
  return node === undefined ? null : <NodeFields {...props} node={node} />
}

function StartFields({ editor: { draft, set }, disabled }: Props): ReactElement {
  return (
    <form aria-label="Start" onSubmit={(event) => event.preventDefault()}>
      <h3 className="mb-3 text-lead font-title">Start</h3>
      <Field
        label="Name"
        value={draft.name}
        maxLength={LIMITS.workflowNameCharsMax}
        disabled={disabled}
        onChange={({ target }) => set({ name: target.value })}
      />
      <Field
        label="Slug"
        value={draft.slug}
        disabled={disabled}
        onChange={({ target }) => set({ slug: target.value })}
        className="mono text-data"
        hint="Identifies the workflow in files and commands. Must be unique in the project."
      />
      <DatasetField
        label="Records in this dataset start a run"
        value={draft.entry_dataset}
        disabled={disabled}
        change={(entry_dataset) => set({ entry_dataset })}
      />
      <h4 className="mb-1 font-control">Conditions</h4>
      <StepConditions
        label="Entry conditions"
        conditions={draft.entry_conditions}
        disabled={disabled}
        change={(entry_conditions) => set({ entry_conditions })}
        empty="Every new record in the dataset starts a run."
      />
    </form>
  )
}

function NodeFields({ editor, tried, disabled, node }: Props & { readonly node: StepNode }): ReactElement {
  const destinations = useDestinations().all
  const agents = useAllAgents().data ?? []
  const { step, key } = node
  const others = placedIn(editor.draft.nodes).map((placed) => placed.node.step)
  const isDoubled = others.filter(({ id }) => id === step.id).length > 1
  return (
    <form aria-label={`Step ${step.id}`} onSubmit={(event) => event.preventDefault()}>
      <div className="mb-3 flex items-center gap-1">
        <h3 className="mr-auto text-lead font-title">{TYPE_WORDS[step.type]}</h3>
        {!disabled && (
          <span className="md:hidden">
            <IconButton label="Move up" onClick={() => editor.move(key, -1)}>
              <ArrowUp strokeWidth={1.5} />
            </IconButton>
            <IconButton label="Move down" onClick={() => editor.move(key, 1)}>
              <ArrowDown strokeWidth={1.5} />
            </IconButton>
            <IconButton label="Duplicate" onClick={() => editor.duplicate(key)}>
              <Copy strokeWidth={1.5} />
            </IconButton>
          </span>
        )}
        <IconButton label="Close the settings" onClick={() => editor.go(undefined)}>
          <X strokeWidth={1.5} />
        </IconButton>
      </div>
      <div className="grid grid-cols-2 gap-3">
        <Field
          label="ID"
          value={step.id}
          disabled={disabled}
          className="mono text-data"
          spellCheck={false}
          aria-invalid={isDoubled}
          hint={isDoubled ? 'Another step has this ID.' : undefined}
          onChange={({ target }) => editor.setNode(key, (now) => ({ ...now, step: { ...now.step, id: target.value } }))}
        />
        <Field
          label="Name"
          value={step.name ?? ''}
          maxLength={LIMITS.workflowNameCharsMax}
          disabled={disabled}
          placeholder={TYPE_WORDS[step.type]}
          onChange={({ target }) => editor.setNode(key, (now) => ({ ...now, step: named(now.step, target.value) }))}
        />
      </div>
      <StepMembers
        step={step}
        disabled={disabled}
        change={(next) => editor.setNode(key, (now) => ({ ...now, step: next }))}
        faultOf={(member) => editor.faultOf(`${key} ${member}`)}
        setFault={(member, fault) => editor.setFault(`${key} ${member}`, fault)}
        destinations={destinations}
        agents={agents}
        filing={others.filter(({ type, id }) => type === 'emit_event' && id !== step.id).map(({ id }) => id)}
      />
      {node.arms !== undefined && <Arms node={node} editor={editor} disabled={disabled} />}
      {(step.type === 'wait_for_event' || step.type === 'run_agent' || step.type === 'deliver') && (
        <TextArea
          label="Sample output for the test run"
          rows={3}
          value={tried.outputs[step.id] ?? ''}
          onChange={({ target }) => tried.setOutput(step.id, target.value)}
          hint="Optional. JSON. A test run calls no external system, so later steps read this sample. It is not saved."
        />
      )}
    </form>
  )
}

function named<S extends StepNode['step']>(step: S, name: string): S {
  const { name: _name, ...rest } = step
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same step with or without its name
  return (name === '' ? rest : { ...rest, name }) as S
}

/** The arms of a branch: their names and conditions. The last one, for everything else, has neither. */
function Arms({
  node,
  editor,
  disabled,
}: {
  readonly node: StepNode
  readonly editor: Editor
  readonly disabled: boolean
}): ReactElement {
  const arms = (node.arms ?? []).filter(({ name }) => name !== null)
  const setArm = (armKey: string, part: object): void =>
    editor.setNode(node.key, (now) => ({
      ...now,
      arms: (now.arms ?? []).map((arm) => (arm.key === armKey ? { ...arm, ...part } : arm)),
    }))
  return (
    <>
      {arms.map((arm) => (
        <fieldset key={arm.key} className="mb-3 rounded-field border border-line p-3">
          <legend className="px-1 text-meta text-ink-3">Branch</legend>
          <div className="flex items-end gap-1">
            <div className="min-w-0 flex-1">
              <Field
                label="Branch name"
                value={arm.name ?? ''}
                disabled={disabled}
                onChange={({ target }) => setArm(arm.key, { name: target.value })}
              />
            </div>
            {arms.length > 1 && !disabled && (
              <IconButton
                label={`Remove the branch ${arm.name ?? ''}`}
                className="mb-4"
                onClick={() =>
                  editor.setNode(node.key, (now) => ({ ...now, arms: now.arms?.filter(({ key }) => key !== arm.key) }))
                }
              >
                <X strokeWidth={1.5} />
              </IconButton>
            )}
          </div>
          <StepConditions
            label={`Conditions of the branch ${arm.name ?? ''}`}
            conditions={arm.conditions}
            disabled={disabled}
            change={(conditions) => setArm(arm.key, { conditions })}
            empty="This branch matches everything."
          />
        </fieldset>
      ))}
      {!disabled && (
        <Button className="mb-3.5" icon={<Plus strokeWidth={1.5} />} onClick={() => editor.setNode(node.key, withArm)}>
          Add a branch
        </Button>
      )}
    </>
  )
}
