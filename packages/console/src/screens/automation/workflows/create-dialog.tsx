import { LIMITS, type Step } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useDestinations } from '../../../data/names.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { Choice } from '../../../parts/choice.tsx'
import { DatasetField } from '../../../parts/dataset-field.tsx'
import { Field } from '../../../ui/field.tsx'
import { bodyOf, type DefinitionBody } from './definition.ts'

type StarterId = 'file' | 'later' | 'wait' | 'branch' | 'deliver'

/** The first steps of a new workflow: an example of each pattern that people start with. */
const STARTERS: readonly { readonly id: StarterId; readonly label: string; readonly text: string }[] = [
  { id: 'file', label: 'Store an event', text: 'One step: store the payload in the dataset follow_up.' },
  { id: 'later', label: 'Wait, then store', text: 'Wait one hour, then store the payload in follow_up.' },
  {
    id: 'wait',
    label: 'Wait for a reply',
    text: 'Wait up to 7 days for a record in replies with the same ID. If none arrives, store the payload in no_reply.',
  },
  {
    id: 'branch',
    label: 'Branch',
    text: 'Store payloads with a total of 1000 or more in large, and all others in small.',
  },
  {
    id: 'deliver',
    label: 'Deliver',
    text: 'Deliver the record to the newest destination and wait for the response.',
  },
]

const file = (id: string, dataset: string): Step => ({ id, type: 'emit_event', dataset, on_error: 'fail' })

function stepsOf(starter: StarterId, destination: string | undefined): readonly Step[] {
  switch (starter) {
    case 'file':
      return [file('file', 'follow_up')]
    case 'later':
      return [{ id: 'pause', type: 'delay', seconds: 3_600 }, file('file', 'follow_up')]
    case 'wait':
      return [
        {
          id: 'reply',
          type: 'wait_for_event',
          dataset: 'replies',
          conditions: [{ path: 'id', equals: '{{ payload.id }}' }],
          timeout_seconds: 604_800,
          on_timeout: 'continue',
        },
        {
          id: 'decide',
          type: 'branch',
          input: 'steps.reply.output',
          branches: [
            {
              name: 'no answer',
              conditions: [{ path: 'timed_out', equals: true }],
              steps: [file('file', 'no_reply')],
            },
          ],
        },
      ]
    case 'branch':
      return [
        {
          id: 'decide',
          type: 'branch',
          input: 'payload',
          branches: [
            {
              name: 'large',
              conditions: [{ path: 'total', op: 'gte', value: 1_000 }],
              steps: [file('file_large', 'large')],
            },
          ],
          else: [file('file_small', 'small')],
        },
      ]
    case 'deliver':
      return [
        {
          id: 'notify',
          type: 'deliver',
          destination: destination ?? '',
          await: 'delivered',
          capture_response: false,
          on_error: 'fail',
        },
      ]
  }
}

/** Creates a workflow with the steps of a pattern. It is off, so no run starts before a person has edited it. */
export function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [name, setName] = useState('')
  const [dataset, setDataset] = useState('')
  const [starter, setStarter] = useState<StarterId>('file')
  const { all, isKnown } = useDestinations()
  const destination = all[0]?.id
  const create = useChange(['workflows'], (client, body: DefinitionBody) => client.workflows.create(body))
  const body: DefinitionBody | undefined =
    name.trim() === '' || dataset.trim() === ''
      ? undefined
      : {
          ...withoutSlug(
            bodyOf({
              name: name.trim(),
              slug: '',
              active: false,
              entry_dataset: dataset.trim(),
              entry_conditions: [],
              steps: stepsOf(starter, destination),
            }),
          ),
        }
  const isWithoutDestination = starter === 'deliver' && destination === undefined
  return (
    <CreateWindow
      wide
      title="New workflow"
      lead="A new workflow is off, so you can edit and test it before you turn it on."
      read={
        body === undefined
          ? { problem: 'Enter a name and a dataset.' }
          : isWithoutDestination
            ? { problem: 'These first steps require a destination.' }
            : { body }
      }
      call={(sent) => ({ method: 'POST', path: 'workflows', body: sent })}
      submit={(sent) => create.mutate(sent, { onSuccess: ({ workflow }) => onMade(workflow.id) })}
      change={create}
      onClose={onClose}
    >
      <Field
        label="Name"
        required
        maxLength={LIMITS.workflowNameCharsMax}
        placeholder="Order follow-up"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <DatasetField
        label="Records in this dataset start a run"
        required
        value={dataset}
        change={setDataset}
        hint="You can add conditions later."
      />
      <Choice
        label="First steps"
        of={STARTERS}
        at={starter}
        go={setStarter}
        hint={
          isWithoutDestination && isKnown
            ? 'This project has no destination yet. Create one first, or choose other first steps.'
            : STARTERS.find(({ id }) => id === starter)?.text
        }
      />
    </CreateWindow>
  )
}

/** The server makes the slug from the name. */
function withoutSlug({ slug: _slug, ...body }: DefinitionBody): DefinitionBody {
  return body
}
