import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { every, type Broadcast } from '../../../data/lists.ts'
import { useAsk } from '../../../data/ask.ts'
import { usePlace } from '../../../data/place.ts'
import { ButtonLink } from '../../../parts/button-link.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { SettingsPage } from '../../../parts/settings-page.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Chip, type Tone } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'

const EVERY_MS = 60_000
const TONES: Readonly<Record<Broadcast['severity'], Tone>> = { info: 'none', warning: 'retry', critical: 'fail' }

/** Everything that the operators of the installation announced to this workspace, newest first. */
export function Screen(): ReactElement {
  const asked = useAsk(
    ['broadcasts', 'all'],
    (client, signal) => every(client.broadcasts.list({ limit: 200 }, { signal })),
    { everyMs: EVERY_MS },
  )
  const { me } = usePlace()
  const items = useCopyItemsOf()
  const { data, error } = asked
  return (
    <SettingsPage
      title="Announcements"
      actions={<MoreMenu items={items({ route: routes.broadcasts.list })} />}
      foot={data !== undefined && counted(data.length, 'announcement')}
    >
      {error !== null && data !== undefined && (
        <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
      )}
      {data === undefined ? (
        error === null ? (
          <Loading rows={4} height={72} />
        ) : (
          <Refused error={error} again={asked.refetch} />
        )
      ) : data.length === 0 ? (
        <Empty
          title="No announcements"
          actions={
            me.operator && (
              <ButtonLink screen="operator" search={{ area: 'announcements', new: '1' }}>
                New announcement
              </ButtonLink>
            )
          }
        >
          Operators announce maintenance and incidents here. New announcements also appear at the top of every screen.
        </Empty>
      ) : (
        <ul
          aria-label="Announcements"
          tabIndex={0}
          className="min-h-0 flex-1 overflow-y-auto border-t border-line outline-offset-[-2px]"
        >
          {data.map((one) => (
            <One key={one.id} of={one} />
          ))}
        </ul>
      )}
    </SettingsPage>
  )
}

function One({ of: { title, text, severity, active, created_at, ends_at } }: { readonly of: Broadcast }): ReactElement {
  return (
    <li className="border-b border-line/55 px-[18px] py-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 font-title break-words">{title}</h2>
        <Chip tone={active ? TONES[severity] : 'none'}>{active ? severity : 'ended'}</Chip>
        <span className="ml-auto text-ink-3">
          <Time at={created_at} />
          {ends_at !== null && (
            <>
              {active ? ', until ' : ', ended '}
              <Time at={ends_at} />
            </>
          )}
        </span>
      </div>
      <p className="mt-1 max-w-[80ch] break-words whitespace-pre-wrap text-ink-2">{text}</p>
    </li>
  )
}
