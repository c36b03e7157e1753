import { LIMITS, type Step, type StepOf } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Check, Field, Select } from '../../ui/field.tsx'
import { DatasetField } from '../dataset-field.tsx'
import { JsonMember, LengthMember, NumberMember, type Fault } from './member-fields.tsx'
import { StepConditions } from './step-conditions.tsx'

/** A thing that a step can name. */
export type Named = { readonly id: string; readonly name: string }

export type StepFieldsProps<Type extends Step['type'] = Step['type']> = {
  readonly step: StepOf<Type>
  readonly change: (step: StepOf<Type>) => void
  readonly disabled: boolean
  /** A text that is not JSON cannot be a member of the step: the sentence is shown, and nothing is saved. */
  readonly faultOf: (member: string) => Fault | undefined
  readonly setFault: (member: string, fault: Fault | undefined) => void
  readonly destinations: readonly Named[]
  readonly agents: readonly Named[]
  /** The ids of emit_event steps. */
  readonly filing: readonly string[]
}

const TEMPLATES =
  'Templates such as {{ payload.id }} and {{ steps.reply.output.payload }} are rendered when the step runs.'

/** The members that only steps of this type have. */
export function StepMembers(props: StepFieldsProps): ReactElement | null {
  const { step } = props
  switch (step.type) {
    case 'delay':
      return <DelayFields {...props} step={step} />
    case 'wait_for_event':
      return <WaitFields {...props} step={step} />
    case 'branch':
      return <BranchInput {...props} step={step} />
    case 'deliver':
      return <DeliverFields {...props} step={step} />
    case 'emit_event':
      return <EmitFields {...props} step={step} />
    case 'run_agent':
      return <AgentFields {...props} step={step} />
  }
}

function DelayFields({ step, change, disabled }: StepFieldsProps<'delay'>): ReactElement {
  const { seconds, until, ...rest } = step
  const isLength = until === undefined
  return (
    <>
      <Select
        label="Until"
        value={isLength ? 'length' : 'time'}
        disabled={disabled}
        onChange={({ target }) =>
          change(target.value === 'length' ? { ...rest, seconds: 3_600 } : { ...rest, until: '{{ payload.due_at }}' })
        }
      >
        <option value="length">a duration has passed</option>
        <option value="time">the time that a template renders</option>
      </Select>
      {isLength ? (
        <LengthMember
          label="Length"
          seconds={seconds ?? 0}
          disabled={disabled}
          change={(next) => change({ ...rest, seconds: next })}
        />
      ) : (
        <Field
          label="Moment"
          value={until}
          disabled={disabled}
          onChange={({ target }) => change({ ...rest, until: target.value })}
          className="mono text-data"
          hint="A template that renders a time such as 2026-01-31T12:00:00Z. If the time is in the past, the run continues immediately."
        />
      )}
    </>
  )
}

function WaitFields({ step, change, disabled }: StepFieldsProps<'wait_for_event'>): ReactElement {
  return (
    <>
      <DatasetField
        label="Event dataset"
        value={step.dataset}
        disabled={disabled}
        change={(dataset) => change({ ...step, dataset })}
      />
      <h4 className="mb-1 font-control">Event conditions</h4>
      <StepConditions
        label="Event conditions"
        conditions={step.conditions}
        disabled={disabled}
        change={(conditions) => change({ ...step, conditions })}
        empty="A wait needs at least one “equals” condition. Postroad uses it to find the event."
      />
      <p className="-mt-2 mb-3.5 text-data text-ink-3">
        Values can be templates such as {'{{ payload.id }}'}. Postroad renders them once, when the wait starts.
      </p>
      <Select
        label="Events"
        value={step.since ?? 'start'}
        disabled={disabled}
        onChange={({ target }) => {
          const { since: _, ...rest } = step
          change(target.value === 'now' ? { ...rest, since: 'now' } : rest)
        }}
      >
        <option value="start">since the run started</option>
        <option value="now">from this step on</option>
      </Select>
      <LengthMember
        label="Timeout"
        seconds={step.timeout_seconds}
        disabled={disabled}
        change={(timeout_seconds) => change({ ...step, timeout_seconds })}
      />
      <Select
        label="If no event arrives"
        value={step.on_timeout}
        disabled={disabled}
        onChange={({ target }) =>
          change({
            ...step,
            on_timeout: (['continue', 'stop', 'fail'] as const).find((one) => one === target.value) ?? 'continue',
          })
        }
      >
        <option value="continue">the run continues</option>
        <option value="stop">the run is completed</option>
        <option value="fail">the run fails</option>
      </Select>
    </>
  )
}

function BranchInput({ step, change, disabled }: StepFieldsProps<'branch'>): ReactElement {
  return (
    <Field
      label="Conditions apply to"
      value={step.input}
      disabled={disabled}
      onChange={({ target }) => change({ ...step, input: target.value })}
      className="mono text-data"
      hint="payload, or the output of an earlier step such as steps.reply.output."
    />
  )
}

function DeliverFields({ step, change, disabled, destinations, filing }: StepFieldsProps<'deliver'>): ReactElement {
  const { record, ...rest } = step
  return (
    <>
      <NamedSelect
        label="Destination"
        of={destinations}
        at={step.destination}
        disabled={disabled}
        go={(destination) => change({ ...step, destination })}
      />
      <Select
        label="Send"
        value={record ?? ''}
        disabled={disabled}
        onChange={({ target }) => change(target.value === '' ? rest : { ...rest, record: target.value })}
      >
        <option value="">the record that started the workflow</option>
        {filing.map((id) => (
          <option key={id} value={id}>{`the record that ${id} stored`}</option>
        ))}
      </Select>
      <Select
        label="Then"
        value={step.await}
        disabled={disabled}
        onChange={({ target }) =>
          change(
            target.value === 'delivered'
              ? { ...step, await: 'delivered' }
              : { ...step, await: 'none', capture_response: false },
          )
        }
      >
        <option value="none">continue immediately</option>
        <option value="delivered">wait until the delivery ends</option>
      </Select>
      {step.await === 'delivered' && (
        <div className="mb-3.5">
          <Check
            label="The output contains the JSON response, up to 16 KiB"
            checked={step.capture_response}
            disabled={disabled}
            onChange={({ target }) => change({ ...step, capture_response: target.checked })}
          />
        </div>
      )}
      <ActingFields step={step} change={change} disabled={disabled} />
    </>
  )
}

function EmitFields({ step, change, disabled, faultOf, setFault }: StepFieldsProps<'emit_event'>): ReactElement {
  const { data, ...rest } = step
  const { customer = '', ...named } = step
  return (
    <>
      <DatasetField
        label="Dataset"
        value={step.dataset}
        disabled={disabled}
        change={(dataset) => change({ ...step, dataset })}
      />
      <JsonMember
        label="Payload"
        value={data}
        disabled={disabled}
        change={(next) => change(next === undefined ? rest : { ...rest, data: next })}
        fault={faultOf('data')}
        setFault={(fault) => setFault('data', fault)}
        hint={`Optional. JSON. Leave empty to use the payload of the record that started the workflow. ${TEMPLATES}`}
      />
      <Field
        label="Customer"
        placeholder="{{ payload.account }}"
        value={customer}
        disabled={disabled}
        onChange={({ target: { value } }) => change(value === '' ? named : { ...named, customer: value })}
        className="mono text-data"
        hint={`Optional. Your ID for a portal customer, whose destinations also get the event. ${TEMPLATES}`}
      />
      <ActingFields step={step} change={change} disabled={disabled} />
    </>
  )
}

function AgentFields({
  step,
  change,
  disabled,
  agents,
  faultOf,
  setFault,
}: StepFieldsProps<'run_agent'>): ReactElement {
  const { input, output_schema, max_steps, timeout_seconds, ...rest } = step
  const set = (part: Partial<StepOf<'run_agent'>>): void => {
    const whole = { ...rest, input, output_schema, max_steps, timeout_seconds, ...part }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an absent member is left out, not undefined
    change(Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined)) as StepOf<'run_agent'>)
  }
  return (
    <>
      <NamedSelect label="Agent" of={agents} at={step.agent} disabled={disabled} go={(agent) => set({ agent })} />
      <JsonMember
        label="Input"
        value={input}
        disabled={disabled}
        change={(next) => set({ input: next })}
        fault={faultOf('input')}
        setFault={(fault) => setFault('input', fault)}
        hint={`Optional. JSON. Leave empty to use the payload of the record that started the workflow. ${TEMPLATES}`}
      />
      <JsonMember
        label="Output schema"
        value={output_schema}
        disabled={disabled}
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server refuses a schema that is not an object
        change={(next) => set({ output_schema: next as Record<string, unknown> | undefined })}
        fault={faultOf('output_schema')}
        setFault={(fault) => setFault('output_schema', fault)}
        hint="Optional. A JSON Schema for an object. Leave empty to use the agent schema."
      />
      <div className="grid grid-cols-2 gap-3">
        <NumberMember
          label="Model calls"
          value={max_steps}
          min={1}
          max={LIMITS.agentStepsMax}
          placeholder="agent setting"
          disabled={disabled}
          change={(next) => set({ max_steps: next })}
        />
        <NumberMember
          label="Timeout, seconds"
          value={timeout_seconds}
          min={1}
          max={LIMITS.agentTimeoutSecondsMax}
          placeholder="agent setting"
          disabled={disabled}
          change={(next) => set({ timeout_seconds: next })}
        />
      </div>
      <ActingFields step={step} change={change} disabled={disabled} />
    </>
  )
}

type Acting = StepOf<'deliver' | 'emit_event' | 'run_agent'>

/** Retries, and the effect of the last failure. */
function ActingFields<S extends Acting>({
  step,
  change,
  disabled,
}: {
  readonly step: S
  readonly change: (step: S) => void
  readonly disabled: boolean
}): ReactElement {
  const retry = step.retry ?? {
    max_attempts: LIMITS.workflowRetriesDefault,
    backoff_seconds: LIMITS.workflowBackoffSecondsDefault,
  }
  return (
    <>
      <div className="grid grid-cols-2 gap-3">
        <NumberMember
          label="Attempts"
          value={retry.max_attempts}
          min={1}
          max={LIMITS.workflowRetriesMax}
          disabled={disabled}
          change={(next) => change({ ...step, retry: { ...retry, max_attempts: next ?? Number.NaN } })}
        />
        <NumberMember
          label="First delay, seconds"
          value={retry.backoff_seconds}
          min={1}
          max={LIMITS.workflowBackoffSecondsMax}
          disabled={disabled}
          change={(next) => change({ ...step, retry: { ...retry, backoff_seconds: next ?? Number.NaN } })}
        />
      </div>
      <Select
        label="When the last attempt fails"
        value={step.on_error}
        disabled={disabled}
        onChange={({ target }) => change({ ...step, on_error: target.value === 'continue' ? 'continue' : 'fail' })}
      >
        <option value="fail">the run fails</option>
        <option value="continue">the run continues without the output</option>
      </Select>
    </>
  )
}

function NamedSelect({
  label,
  of,
  at,
  go,
  disabled,
}: {
  readonly label: string
  readonly of: readonly Named[]
  readonly at: string
  readonly go: (id: string) => void
  readonly disabled: boolean
}): ReactElement {
  return (
    <Select
      label={label}
      value={at}
      disabled={disabled}
      onChange={({ target }) => go(target.value)}
      hint={of.length === 0 ? `This project has no ${label.toLowerCase()} yet.` : undefined}
    >
      {at === '' && <option value="">Choose one</option>}
      {at !== '' && !of.some(({ id }) => id === at) && <option value={at}>{at}</option>}
      {of.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  )
}
