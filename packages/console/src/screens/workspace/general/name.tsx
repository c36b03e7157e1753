import { routes } from '@postroad/contract'
import { useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import type { Workspace } from '../../../data/lists.ts'
import { CopyMeta } from '../../../parts/detail.tsx'
import { NameForm } from '../../../parts/name-form.tsx'
import { planText } from '../../../parts/plan-text.ts'
import { useSeats } from '../../../parts/seats.ts'
import { Time } from '../../../ui/time.tsx'

/** The name of the workspace, and the settings that cannot be changed here. */
export function NamePart({ of }: { readonly of: Workspace }): ReactElement {
  const { id, plan, created_at } = of
  const asking = useQueryClient()
  const seats = useSeats()
  return (
    <NameForm
      one="Workspace"
      of={of}
      route={routes.workspaces.update}
      send={async (client, name) => {
        await client.workspaces.update({ name })
        await asking.invalidateQueries({ queryKey: ['me'] })
      }}
      facts={[
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
  )
}
