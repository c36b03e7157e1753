import { LIMITS, routes, type RouteAnswer, type Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import { useAllMembers } from '../../../data/lists.ts'
import { Facts, Part } from '../../../parts/detail.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { SettingsPage } from '../../../parts/settings-page.tsx'
import { listIn } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { TextArea } from '../../../ui/field.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Loading, Refused, Stale } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'

type Network = RouteAnswer<Routes['network']['get']>['network']

/** The addresses from which the workspace may be used. */
export function Screen(): ReactElement {
  const asked = useAsk(['network'], (client, signal) => client.network.get(undefined, { signal }))
  const items = useCopyItemsOf()
  const network = asked.data?.network
  const list = network?.ip_allowlist ?? []
  return (
    <SettingsPage
      title="Network access"
      actions={
        <MoreMenu
          items={[
            ...items({ route: routes.network.get }),
            ...items(
              {
                route: routes.network.update,
                body: { ip_allowlist: list },
              },
              '“Save list”',
            ),
          ]}
        />
      }
    >
      {asked.error !== null && network !== undefined && (
        <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
      )}
      {network === undefined ? (
        asked.error === null ? (
          <Loading rows={3} height={72} />
        ) : (
          <Refused error={asked.error} again={asked.refetch} />
        )
      ) : (
        <div
          role="group"
          aria-label="Network access"
          tabIndex={0}
          className="min-h-0 flex-1 overflow-y-auto border-t border-line outline-offset-[-2px]"
        >
          <Allowlist of={network} />
        </div>
      )}
    </SettingsPage>
  )
}

function Allowlist({
  of: { ip_allowlist, your_address, updated_at, updated_by },
}: {
  readonly of: Network
}): ReactElement {
  const by = useAllMembers().data?.find(({ id }) => id === updated_by)?.name
  const form = useSaveForm({
    held: ip_allowlist.join('\n'),
    read: (draft: string) => ({ body: listIn(draft) }),
    route: routes.network.update,
    rooms: ['network'],
    send: (client, list) => client.network.update({ ip_allowlist: [...list] }),
    countsFrom: 'the next request',
  })
  const listed = listIn(form.draft)
  const isOpen = ip_allowlist.length === 0
  return (
    <SaveForm label="Addresses that can access the workspace" of={form}>
      <Part
        title={isOpen ? 'Any address can access the workspace' : 'Restricted'}
        text={
          isOpen
            ? 'Add addresses to restrict the console, API, MCP server and CLI.'
            : 'Requests to the console, API, MCP server or CLI from other addresses get 403 and appear in the audit log. The list does not apply to ingest and the stream. Endpoints and ingest keys have their own lists.'
        }
      >
        <TextArea
          label="Allowed addresses"
          rows={6}
          disabled={form.disabled}
          value={form.draft}
          onChange={({ target }) => form.change(target.value)}
          hint={
            <>
              IPv4 and IPv6 addresses and CIDR ranges, such as 203.0.113.0/24 and 2001:db8::/48, one per line, at most{' '}
              {LIMITS.ipAllowlistEntriesMax}. Leave empty to allow any address.
              <span className="mt-1 flex flex-wrap items-center gap-2">
                {your_address === null ? (
                  'Postroad cannot determine your address, so any list would lock you out. Ask the operator to check TRUST_PROXY.'
                ) : (
                  <>
                    Your address is <code className="mono">{your_address}</code>
                    {!listed.includes(your_address) && (
                      <Button
                        disabled={form.disabled}
                        onClick={() => form.change([...listed, your_address].join('\n'))}
                      >
                        Add my address
                      </Button>
                    )}
                  </>
                )}
              </span>
            </>
          }
        />
        <p className="mb-3.5 text-ink-3">
          Postroad refuses a list that does not include your address, so that you cannot lock yourself out. An
          installation operator can clear the list.
        </p>
        {!isOpen && (
          <Facts
            of={[
              [
                'Saved',
                updated_at === null ? (
                  'never'
                ) : (
                  <span key="saved">
                    <Time at={updated_at} />
                    {by === undefined ? '' : ` by ${by}`}
                  </span>
                ),
              ],
              [
                'Refused',
                <To
                  key="refused"
                  screen="audit"
                  search={{ action: 'access_denied' }}
                  className="inline-block min-h-6 leading-6 text-accent underline"
                >
                  Requests from other addresses
                </To>,
              ],
            ]}
          />
        )}
      </Part>
    </SaveForm>
  )
}
