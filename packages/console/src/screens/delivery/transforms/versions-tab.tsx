import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { useRefusal } from '../../../data/place.ts'
import { TextDiff } from '../../../parts/json-diff.tsx'
import { Ago } from '../../../ui/ago.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Loading, Refused, RefusedLine } from '../../../ui/states.tsx'
import type { WholeTransform } from './code-tab.tsx'
import { languageName } from './language.ts'

/** The versions of a transform. A version never changes; an older one can be current again. */
export function VersionsTab({ transform }: { readonly transform: WholeTransform }): ReactElement {
  const { id, version: current } = transform
  const [open, setOpen] = useState<number | undefined>()
  const asked = useAsk(['transforms', 'versions', id, current], (client, signal) =>
    client.transforms.listVersions({ id, limit: 200 }, { signal }),
  )
  if (asked.data === undefined)
    return asked.error === null ? <Loading rows={5} /> : <Refused error={asked.error} again={asked.refetch} />
  return (
    <>
      <ol aria-label="Versions">
        {asked.data.versions.map(({ version, language, created_at }) => (
          <li key={version} className="flex min-h-11 items-center gap-3 border-b border-line/55 px-5">
            <span className="mono w-10 text-data text-ink-3">v{version}</span>
            <span className="min-w-0 flex-1 text-ink-2">
              {languageName(language)}, saved <Ago at={created_at} />
            </span>
            {version === current ? (
              <span className="text-right text-ink-3">current</span>
            ) : (
              <Button onClick={() => setOpen(version)}>Compare</Button>
            )}
          </li>
        ))}
      </ol>
      {open !== undefined && <VersionDialog transform={transform} version={open} onClose={() => setOpen(undefined)} />}
    </>
  )
}

function VersionDialog({
  transform: { id, version: current, code },
  version,
  onClose,
}: {
  readonly transform: WholeTransform
  readonly version: number
  readonly onClose: () => void
}): ReactElement {
  const refusal = useRefusal(routes.transforms.update)
  const asked = useAsk(['transforms', 'version', id, version], (client, signal) =>
    client.transforms.getVersion({ id, version: String(version) }, { signal }),
  )
  const restore = useChange(['transforms'], (client, to: number) => client.transforms.update({ id, version: to }))
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={`Version ${version}`}
      lead={`Differences from version ${current}.`}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            kind="primary"
            disabled={refusal !== undefined || asked.data === undefined || restore.isPending}
            title={refusal}
            onClick={() => restore.mutate(version, { onSuccess: onClose })}
          >
            Make current
          </Button>
        </>
      }
    >
      <RefusedLine error={asked.error ?? restore.error} />
      {asked.data !== undefined && (
        <TextDiff label={`Differences in version ${version}`} before={code} after={asked.data.version.code} />
      )}
    </Dialog>
  )
}
