import { routes } from '@postroad/contract'
import { Download } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { usePlace } from '../../../data/place.ts'
import { Part } from '../../../parts/detail.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { SettingsPage } from '../../../parts/settings-page.tsx'
import { Unsaved } from '../../../parts/unsaved.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Applied } from './applied.tsx'
import { Choose } from './choose.tsx'
import type { ConfigFile } from './file.ts'
import type { Outcome } from './plan.ts'
import { PlanView } from './plan-view.tsx'

/** The project as a file: export it, plan the changes that a file would make, and apply them. */
export function Screen(): ReactElement {
  const { project } = usePlace()
  const [file, setFile] = useState<ConfigFile | undefined>()
  const [outcome, setOutcome] = useState<Outcome | undefined>()
  const items = useCopyItemsOf()
  return (
    <SettingsPage
      title="Import and export"
      beside={<span className="truncate text-ink-3">{project.name}</span>}
      actions={
        <MoreMenu
          items={[
            ...items(
              {
                route: routes.config.export,
              },
              '“Export”',
            ),
          ]}
        />
      }
    >
      <div
        role="group"
        aria-label="Import and export"
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto border-t border-line outline-offset-[-2px]"
      >
        {file === undefined && outcome === undefined && (
          <>
            <Part
              title="Export"
              text="Endpoints, rules, record views, destinations, workflows and AI triggers as one JSON file for git, in a stable order. The file contains no endpoint URLs, secrets, keys or header values, and names the resources that it leaves out, such as sources and ingest keys."
              beside={
                <a
                  href={`/admin/api/projects/${project.id}/config/export`}
                  download="postroad.json"
                  className="inline-flex h-7 flex-none items-center gap-[7px] rounded-button border border-line-2 bg-surface px-2.5 font-control hover:bg-sunken"
                >
                  <Download className="size-3.5 text-ink-2" strokeWidth={1.5} aria-hidden />
                  Download postroad.json
                </a>
              }
            >
              {null}
            </Part>
            <Choose onFile={setFile} />
          </>
        )}
        {file !== undefined && outcome === undefined && (
          <PlanView file={file} onBack={() => setFile(undefined)} onApplied={setOutcome} />
        )}
        {outcome !== undefined && (
          <Applied
            of={outcome}
            onDone={() => {
              setOutcome(undefined)
              setFile(undefined)
            }}
          />
        )}
      </div>
      <Unsaved isUnsaved={file !== undefined && outcome === undefined} />
    </SettingsPage>
  )
}
