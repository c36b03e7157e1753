import { LIMITS, routes } from '@postroad/contract'
import { useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import type { Workspace } from '../../../data/lists.ts'
import { useSeats } from '../../../parts/seats.ts'
import { planText } from '../../../parts/plan-text.ts'
import { CopyMeta, Facts, Part } from '../../../parts/detail.tsx'
import { SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { Field } from '../../../ui/field.tsx'
import { Time } from '../../../ui/time.tsx'

/** The name of the workspace, and the settings that cannot be changed here. */
export function NamePart({ of: { id, slug, name, plan, created_at } }: { readonly of: Workspace }): ReactElement {
  const asking = useQueryClient()
  const seats = useSeats()
  const form = useSaveForm<string, { readonly name: string }>({
    held: name,
    read: (draft: string) =>
      draft.trim() === '' ? { problem: 'Enter a workspace name.' } : { body: { name: draft.trim() } },
    route: routes.workspaces.update,
    rooms: ['workspaces'],
    send: async (client, body) => {
      await client.workspaces.update(body)
      await asking.invalidateQueries({ queryKey: ['me'] })
    },
    countsFrom: 'now on',
  })
  return (
    <SaveForm label="Workspace name" of={form} isPart>
      <Part title="Workspace">
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
            ['ID', <CopyMeta key="id" text={id} label="Copy ID" />],
            ['Plan', planText(plan)],
            [
              'Members',
              <To key="members" screen="members" className="inline-block min-h-6 leading-6 text-accent underline">
                {seats === undefined ? 'Members' : seats.text}
                {seats !== undefined && seats.max !== null && `, ${seats.used} of ${seats.max} seats`}
              </To>,
            ],
            ['Created', <Time key="at" at={created_at} />],
          ]}
        />
      </Part>
    </SaveForm>
  )
}
