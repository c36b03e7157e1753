import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactElement, ReactNode } from 'react'
import { PartHeading } from '../../../parts/detail.tsx'
import { Page } from '../../../ui/page.tsx'
import { Loading, Refused, Stale } from '../../../ui/states.tsx'

export type AreaProps = {
  /** The other areas, beside the title. */
  readonly views: ReactElement
}

type Props<T> = AreaProps & {
  readonly label: string
  readonly asked: UseQueryResult<T>
  readonly actions?: ReactNode
  readonly foot?: ReactNode
  readonly children: (data: T) => ReactNode
}

/** An area of the operators: its data, or the reason why it is not there. */
export function Area<T>({ views, label, asked, actions, foot, children }: Props<T>): ReactElement {
  const { data, error } = asked
  return (
    <Page title="Operators" beside={views} actions={actions} foot={foot}>
      {error !== null && data !== undefined && (
        <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
      )}
      {data === undefined ? (
        error === null ? (
          <Loading rows={6} height={48} />
        ) : (
          <Refused error={error} again={asked.refetch} />
        )
      ) : (
        <div
          role="group"
          aria-label={label}
          tabIndex={0}
          className="min-h-0 flex-1 overflow-y-auto border-t border-line outline-offset-[-2px]"
        >
          <PartHeading value="h2">{children(data)}</PartHeading>
        </div>
      )}
    </Page>
  )
}
