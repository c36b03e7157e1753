import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import type { ApiKey } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { CopyMeta, Detail, Facts, Part } from '../../../parts/detail.tsx'
import { RemoveDialog } from '../../../parts/remove-dialog.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { Button } from '../../../ui/button.tsx'
import { To } from '../../../data/go.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Time } from '../../../ui/time.tsx'
import { Expiry, Reach } from './columns.tsx'
import { commandsOf, type Use } from './commands.ts'
import { isUsable, StatusChip, statusOf } from './status.tsx'

/** One key: its limits, its use, and its end. The key itself cannot be shown. */
export function ApiKeyDetail({
  row: key,
  onClose,
}: {
  readonly row: ApiKey
  readonly onClose: () => void
}): ReactElement {
  const { id, name, shown_prefix, status } = key
  const [isRevoking, setRevoking] = useState(false)
  const refusal = useRefusal(routes.apiKeys.remove)
  const items = useCopyItemsOf()
  return (
    <Detail
      label="API key"
      title={name}
      chip={<StatusChip of={key} />}
      onClose={onClose}
      meta={
        <>
          <span className="mono text-ink-2">{shown_prefix}…</span>
          <CopyMeta text={id} label="Copy ID" />
          <To
            screen="audit"
            search={{ agent: `api_key:${id}` }}
            className="inline-block min-h-6 leading-6 text-accent underline"
          >
            Changes made with this key
          </To>
        </>
      }
      actions={
        <>
          {status !== 'revoked' && (
            <Button
              kind="danger"
              disabled={refusal !== undefined}
              title={refusal ?? 'The next request with this key gets 401'}
              onClick={() => setRevoking(true)}
            >
              Revoke
            </Button>
          )}
          <MoreMenu
            items={items(
              {
                route: routes.apiKeys.remove,
                params: { id },
              },
              '“Revoke”',
            )}
          />
        </>
      }
    >
      <div className="min-h-0 flex-1 overflow-y-auto border-t border-line" role="group" aria-label="Key" tabIndex={0}>
        <LimitsPart of={key} />
        {isUsable(key) && <UsePart projectId={key.project_id} />}
      </div>
      {isRevoking && (
        <RemoveDialog
          name={name}
          removal={{
            verb: 'Revoke',
            text: 'The next request with this key gets 401. The key stays in the list as revoked, and its changes stay in the audit log. You cannot restore a revoked key.',
            rooms: ['apiKeys'],
            run: (client) => client.apiKeys.remove({ id }),
          }}
          onClose={() => setRevoking(false)}
          onRemoved={() => setRevoking(false)}
        />
      )}
    </Detail>
  )
}

function LimitsPart({ of: key }: { readonly of: ApiKey }): ReactElement {
  const { role, project_id, ip_allowlist, created_by, created_at, expires_at, last_used_at } = key
  return (
    <Part title="Limits" text="You cannot edit a key. To change a limit, create a new key and revoke this one.">
      <Facts
        of={[
          ['State', statusOf(key).text],
          ['Role', `${role}, or the current role of its creator, whichever is lower`],
          ['Access', <Reach key="reach" projectId={project_id} />],
          [
            'Expires',
            <span key="expires">
              <Expiry of={key} />
              {expires_at !== null && (
                <>
                  , <Time at={expires_at} />
                </>
              )}
            </span>,
          ],
          [
            'Allowed addresses',
            ip_allowlist.length === 0 ? (
              'any address'
            ) : (
              <span key="from" className="mono text-data">
                {ip_allowlist.join(', ')}
              </span>
            ),
          ],
          ['Creator', created_by.is_member ? created_by.name : `${created_by.name}, who has left the workspace`],
          ['Created', <Time key="created" at={created_at} />],
          ['Last used', last_used_at === null ? 'never' : <Time key="used" at={last_used_at} />],
        ]}
      />
    </Part>
  )
}

function UsePart({ projectId }: { readonly projectId: string | null }): ReactElement {
  const [use, setUse] = useState<Use>('curl')
  return (
    <Part
      title="Use this key"
      text={
        <>
          Postroad cannot show the key again. Set <code className="mono">SERVICE_TOKEN</code> to the key first.
        </>
      }
    >
      <CodeBlock
        label="How to use the key"
        of={commandsOf({ variable: 'SERVICE_TOKEN' }, projectId)}
        at={use}
        go={setUse}
      />
    </Part>
  )
}
