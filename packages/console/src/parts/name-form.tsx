import { LIMITS } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { ComponentProps, ReactElement } from 'react'
import type { useMay } from '../data/place.ts'
import { Field } from '../ui/field.tsx'
import { Facts, Part } from './detail.tsx'
import { SaveForm, useSaveForm } from './save-form.tsx'

type Props = {
  readonly one: 'Project' | 'Workspace'
  readonly of: { readonly name: string; readonly slug: string }
  readonly route: Parameters<typeof useMay>[0]
  readonly send: (client: Client, name: string) => Promise<unknown>
  /** The facts after the slug. */
  readonly facts: ComponentProps<typeof Facts>['of']
}

/** The name of a project or a workspace, and the facts that cannot be changed here. */
export function NameForm({ one, of: { name, slug }, route, send, facts }: Props): ReactElement {
  const noun = one.toLowerCase()
  const form = useSaveForm<string, string>({
    held: name,
    read: (draft) => (draft.trim() === '' ? { problem: `Enter a ${noun} name.` } : { body: draft.trim() }),
    route,
    rooms: [`${noun}s`],
    send,
    countsFrom: 'now on',
  })
  return (
    <SaveForm label={`${one} name`} of={form} isPart>
      <Part title={one}>
        <Field
          label="Name"
          required
          maxLength={LIMITS.nameCharsMax}
          disabled={form.disabled}
          value={form.draft}
          onChange={({ target }) => form.change(target.value)}
        />
        <Facts
          of={[
            [
              'Slug',
              <span key="slug">
                <code className="mono text-data">{slug}</code>{' '}
                <span className="text-ink-3">· part of endpoint URLs and cannot be changed</span>
              </span>,
            ],
            ...facts,
          ]}
        />
      </Part>
    </SaveForm>
  )
}
