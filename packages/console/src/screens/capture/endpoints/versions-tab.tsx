import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { useAllApiKeys, type Webhook } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { Ago } from '../../../ui/ago.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { Loading, Refused, RefusedLine } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { handshakeDraftOf, tokenNeedOf } from './handshake-draft.ts'

type Version = RouteAnswer<Routes['webhooks']['listVersions']>['versions'][number]
type Config = RouteAnswer<Routes['webhooks']['getVersion']>['version']['config']

const API_KEY = 'api_key:'

/** Every version of the settings; a person can restore each of them. */
export function VersionsTab({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const [open, setOpen] = useState<number | undefined>()
  const keys = useAllApiKeys().data
  const nameOf = (id: string): string => keys?.find((key) => key.id === id)?.name ?? id
  const asked = useAsk(['webhooks', 'versions', webhook.id], (client, signal) =>
    client.webhooks.listVersions({ id: webhook.id, limit: 100 }, { signal }),
  )
  if (asked.data === undefined)
    return asked.error === null ? <Loading rows={5} /> : <Refused error={asked.error} again={asked.refetch} />
  return (
    <>
      <ol aria-label="Versions">
        {asked.data.versions.map((version) => (
          <li key={version.version} className="flex min-h-11 items-center gap-3 border-b border-line/55 px-5">
            <span className="mono w-8 text-data text-ink-3">v{version.version}</span>
            <span className="min-w-0 flex-1 py-1.5">
              <span className="block truncate">{sentence(version)}</span>
              <span className="block truncate text-meta text-ink-3">
                <Ago at={version.created_at} /> {byText(version, nameOf)}
              </span>
            </span>
            {version.version === webhook.version ? (
              <span className="w-20 text-right text-ink-3">current</span>
            ) : (
              <Button className="w-20 justify-center" onClick={() => setOpen(version.version)}>
                View
              </Button>
            )}
          </li>
        ))}
      </ol>
      <p className="px-5 py-3 text-data text-ink-3">
        Postroad stores the newest 100 versions. Versions do not contain secrets or URLs. A rotation does not create a
        version.
      </p>
      {open !== undefined && <RestoreDialog webhook={webhook} version={open} onClose={() => setOpen(undefined)} />}
    </>
  )
}

/** An agent is an API key or a connected program, as `api_key:key_…`. */
function byText({ agent }: Version, nameOf: (id: string) => string): string {
  if (agent === null) return 'in the console'
  return agent.startsWith(API_KEY) ? `by the API key “${nameOf(agent.slice(API_KEY.length))}”` : `by ${agent}`
}

function sentence({ version, changed, restored_from }: Version): string {
  if (restored_from !== null) return `Restored from version ${restored_from}`
  if (version === 1) return 'Created'
  return `Changed ${changed.map((name) => name.replaceAll('_', ' ')).join(', ')}`
}

function RestoreDialog({
  webhook,
  version,
  onClose,
}: {
  readonly webhook: Webhook
  readonly version: number
  readonly onClose: () => void
}): ReactElement {
  const [secret, setSecret] = useState('')
  const [token, setToken] = useState('')
  const refusal = useRefusal(routes.webhooks.restoreVersion)
  const may = refusal === undefined
  const toast = useToast()
  const asked = useAsk(['webhooks', 'version', webhook.id, version], (client, signal) =>
    client.webhooks.getVersion({ id: webhook.id, version: String(version) }, { signal }),
  )
  const config = asked.data?.version.config
  const needsSecret =
    config !== undefined &&
    config.verification.scheme !== 'none' &&
    config.verification.scheme !== webhook.verification.scheme
  const needsToken =
    config !== undefined &&
    tokenNeedOf(handshakeDraftOf(config.handshake)) !== 'none' &&
    (config.handshake.kind !== webhook.handshake.kind ||
      (config.handshake.has_verify_token === true && webhook.handshake.has_verify_token !== true))
  const restore = useChange(['webhooks'], (client) =>
    client.webhooks.restoreVersion({
      id: webhook.id,
      version: String(version),
      ...(needsSecret ? (secret === '' ? { without_secret: true as const } : { secret }) : {}),
      ...(token === '' ? {} : { verify_token: token }),
    }),
  )
  const go = (): void =>
    restore.mutate(undefined, {
      onSuccess: () => {
        toast({ text: `Version ${version} is the current one.` })
        onClose()
      },
    })
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={`Version ${version}`}
      lead="Differences from the current settings."
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            kind="primary"
            disabled={!may || config === undefined || restore.isPending}
            title={may ? 'Creates a new version with these settings' : refusal}
            onClick={go}
          >
            Restore
          </Button>
        </>
      }
    >
      {asked.error !== null && <RefusedLine error={asked.error} />}
      {config !== undefined && <Differences now={webhook} then={config} />}
      {needsSecret && (
        <Field
          label="Secret for this scheme"
          type="password"
          autoComplete="new-password"
          value={secret}
          onChange={({ target }) => setSecret(target.value)}
          hint="Optional. Versions do not contain secrets. If you leave this empty, the endpoint returns 401 to every request until you set a secret."
        />
      )}
      {needsToken && (
        <Field
          label="Verify token"
          type="password"
          autoComplete="new-password"
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
      )}
      <RefusedLine error={restore.error} />
    </Dialog>
  )
}

function Differences({ now, then }: { readonly now: Webhook; readonly then: Config }): ReactElement {
  const held: Readonly<Record<string, unknown>> = {
    ...now,
    verification: without(now.verification, ['has_secret', 'previous_secret_expires_at']),
    handshake: without(now.handshake, ['has_verify_token']),
  }
  const differing = Object.entries({ ...then, handshake: without(then.handshake, ['has_verify_token']) }).filter(
    ([name, value]) => sorted(value) !== sorted(held[name]),
  )
  if (differing.length === 0) return <p className="mb-3 text-ink-2">These settings are the same as the current ones.</p>
  return (
    <table className="mb-3.5 w-full">
      <thead>
        <tr className="text-left text-meta text-ink-3">
          <th scope="col" className="pr-3 font-text">
            Setting
          </th>
          <th scope="col" className="pr-3 font-text">
            Now
          </th>
          <th scope="col" className="font-text">
            Version
          </th>
        </tr>
      </thead>
      <tbody>
        {differing.map(([name, value]) => (
          <tr key={name} className="align-top">
            <td className="border-t border-line/55 py-1.5 pr-3">{name.replaceAll('_', ' ')}</td>
            <td className="mono border-t border-line/55 py-1.5 pr-3 text-data break-all text-fail">
              {shown(held[name])}
            </td>
            <td className="mono border-t border-line/55 py-1.5 text-data break-all text-ok-text">{shown(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function without(value: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}

function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  return JSON.stringify(
    Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .toSorted(([a], [b]) => a.localeCompare(b)),
  )
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
