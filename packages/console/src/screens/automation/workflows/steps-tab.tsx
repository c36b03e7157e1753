import { routes } from '@postroad/contract'
import { ArrowDown, ArrowUp, Copy, Play, Trash2 } from 'lucide-react'
import { useMemo, useRef, useState, type ReactElement } from 'react'
import { useAllAgents } from '../../../data/automation-lists.ts'
import { useDestinations } from '../../../data/names.ts'
import { useRefusal } from '../../../data/place.ts'
import { Unsaved } from '../../../parts/unsaved.tsx'
import { Canvas, Head } from '../../../parts/workflow/canvas.tsx'
import { whenText } from '../../../parts/workflow/step-text.ts'
import { nodeIn, placedIn, type StepNode } from '../../../parts/workflow/tree.ts'
import { StepValue } from '../../../parts/workflow/values.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Views } from '../../../ui/page.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { useIsNarrow } from '../../../ui/width.ts'
import { definitionOf, type WholeWorkflow } from './definition.ts'
import { JsonView, TEXT } from './json-view.tsx'
import { ReplaceDialog } from './replace-dialog.tsx'
import { StepPanel } from './step-panel.tsx'
import { TryPart } from './try-part.tsx'
import { START, useEditor, type Editor } from './use-editor.ts'
import { useTry, type Try } from './use-try.ts'

/** Below this width the form of a step is inside its card, not beside the canvas. */
const NARROW_PX = 820

/** The steps of a workflow, edited on a canvas or as JSON, and tried on a record after each change. */
export function StepsTab({ workflow }: { readonly workflow: WholeWorkflow }): ReactElement {
  const [view, setView] = useState<'canvas' | 'json'>('canvas')
  const [isReplacing, setReplacing] = useState(false)
  const refusal = useRefusal(routes.workflows.replace)
  const may = refusal === undefined
  const editor = useEditor(definitionOf(workflow))
  const tried = useTry({ id: workflow.id, definition: editor.definition })
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-none flex-wrap items-center gap-2 border-b border-line bg-sunken px-4 py-1.5">
        <Views
          label="View"
          at={view}
          // The canvas cannot show a text with a fault, and edits there would be lost with the next edit of the text.
          go={(next) => editor.faultOf(TEXT) === undefined && setView(next)}
          of={[
            { id: 'canvas', label: 'Canvas' },
            { id: 'json', label: 'JSON' },
          ]}
        />
        {!may && <span className="text-ink-3">{refusal}</span>}
      </div>
      {view === 'json' ? (
        <JsonView key={editor.epoch} editor={editor} disabled={!may} />
      ) : (
        <CanvasView workflow={workflow} editor={editor} tried={tried} disabled={!may} />
      )}
      <Unsaved isUnsaved={editor.isChanged} />
      {editor.isChanged && <Bar editor={editor} tried={tried} onReplace={() => setReplacing(true)} />}
      {isReplacing && (
        <ReplaceDialog
          id={workflow.id}
          definition={editor.definition}
          onClose={() => setReplacing(false)}
          onSaved={editor.saved}
        />
      )}
    </div>
  )
}

function Bar({
  editor,
  tried,
  onReplace,
}: {
  readonly editor: Editor
  readonly tried: Try
  readonly onReplace: () => void
}): ReactElement {
  return (
    <div className="flex flex-none flex-wrap items-center justify-end gap-2 border-t border-line bg-surface px-5 py-2.5">
      <p role="status" className="mr-auto min-w-0 text-ink-3">
        {editor.fault !== undefined ? (
          <span className="text-fail">{editor.fault}</span>
        ) : tried.refused !== null ? (
          <span className="text-fail">{tried.refused.message}</span>
        ) : (
          'Not saved. Runs in progress continue with their version.'
        )}
      </p>
      <Button onClick={editor.discard}>Discard</Button>
      <Button kind="primary" disabled={editor.fault !== undefined} onClick={onReplace}>
        Review and save
      </Button>
    </div>
  )
}

type CanvasProps = {
  readonly workflow: WholeWorkflow
  readonly editor: Editor
  readonly tried: Try
  readonly disabled: boolean
}

function CanvasView({ workflow, editor, tried, disabled }: CanvasProps): ReactElement {
  const room = useRef<HTMLDivElement>(null)
  const isNarrow = useIsNarrow(room, NARROW_PX)
  const nameOf = useNames()
  const { draft, go } = editor
  const at =
    editor.at === START || placedIn(draft.nodes).some(({ node }) => node.key === editor.at) ? editor.at : undefined
  const faulty = tried.refused === null ? undefined : nodeIn(draft.nodes, tried.refused.message)
  const results = useMemo(() => resultsIn(draft.nodes, tried.result), [draft.nodes, tried.result])
  const panel = (key: string): ReactElement => (
    <StepPanel key={key} at={key} editor={editor} tried={tried} disabled={disabled} />
  )
  const beside = (node: StepNode): ReactElement | null => (disabled ? null : <Actions node={node} editor={editor} />)
  const under = (node: StepNode): ReactElement | null => {
    const result = results.get(node.key)
    const problem = node.key === faulty?.key ? tried.refused?.message : undefined
    const isOpenHere = isNarrow && at === node.key
    const hasValues = result !== undefined && (result.type !== 'branch' || result.error !== null)
    if (problem === undefined && !hasValues && !isOpenHere) return null
    return (
      <div className="border-t border-line/55 px-3 pt-1.5 pb-2.5">
        {problem !== undefined && (
          <p role="alert" className="text-fail">
            {problem}
          </p>
        )}
        {hasValues && <StepResult result={result} />}
        {isOpenHere && <div className="mt-2 border-t border-line pt-3">{panel(node.key)}</div>}
      </div>
    )
  }
  return (
    <div
      ref={room}
      className={`grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] ${isNarrow || at === undefined ? 'grid-cols-1' : 'grid-cols-[minmax(0,1fr)_minmax(0,340px)]'}`}
    >
      <div className="min-h-0 min-w-0 overflow-y-auto" aria-busy={tried.isBusy}>
        <TryPart tried={tried} workflow={workflow} dataset={draft.entry_dataset} hasFault={faulty !== undefined} />
        <Canvas
          label="Steps"
          nodes={draft.nodes}
          nameOf={nameOf}
          at={at}
          go={go}
          start={
            <section
              aria-label="Start"
              className={`rounded-page border bg-surface ${at === START ? 'border-accent shadow-[0_0_0_1px_var(--accent)]' : 'border-line-2'}`}
            >
              <div className="flex min-h-12 items-center gap-2 px-3 py-1.5">
                <Play className="size-4 flex-none text-flow" strokeWidth={1.5} aria-hidden />
                <Head
                  isAt={at === START}
                  go={() => go(START)}
                  title="Start"
                  text={`A record in ${draft.entry_dataset || '…'}${draft.entry_conditions.length === 0 ? '' : ` where ${whenText(draft.entry_conditions)}`}`}
                />
              </div>
              {isNarrow && at === START && <div className="border-t border-line px-3 pt-3">{panel(START)}</div>}
            </section>
          }
          under={under}
          beside={beside}
          takes={(node, arm) => {
            const taken = takenOf(results.get(node.key))
            return taken === undefined ? undefined : taken === (arm.name ?? 'else')
          }}
          isDim={(node) => tried.result !== undefined && !results.has(node.key)}
          {...(disabled ? {} : { add: editor.add })}
        />
        {tried.result?.complete === false && (
          <p className="px-5 pb-4 text-center text-ink-3">
            The test run stopped early, because a step failed or the run reached its work limit. Later steps have no
            values.
          </p>
        )}
      </div>
      {!isNarrow && at !== undefined && (
        <aside aria-label="Step settings" className="min-h-0 overflow-y-auto border-l border-line bg-surface px-4 py-4">
          {panel(at)}
        </aside>
      )}
    </div>
  )
}

type Result = NonNullable<Try['result']>['steps'][number]

function StepResult({ result: { input, output, error, type } }: { readonly result: Result }): ReactElement {
  return (
    <>
      {error !== null && <RefusedLine error={new Error(error)} />}
      {type !== 'branch' && error === null && <StepValue label="Input" value={input} />}
      {type !== 'branch' && <StepValue label="Output that later steps read" value={output} />}
    </>
  )
}

/** The result of each step that would run, by its key. */
function resultsIn(nodes: readonly StepNode[], tried: Try['result']): ReadonlyMap<string, Result> {
  const byPlace = new Map(tried?.steps.map((result) => [result.place, result]))
  return new Map(
    placedIn(nodes).flatMap(({ node, place }) => {
      const result = byPlace.get(place)
      return result === undefined || result.step_id !== node.step.id ? [] : [[node.key, result] as const]
    }),
  )
}

/** The name of the arm that a branch takes, or `else`. */
function takenOf(result: Result | undefined): string | undefined {
  if (result?.type !== 'branch' || typeof result.output !== 'object' || result.output === null) return undefined
  if (!('taken' in result.output)) return undefined
  const { taken } = result.output
  return typeof taken === 'string' ? taken : 'else'
}

function Actions({ node: { key, step }, editor }: { readonly node: StepNode; readonly editor: Editor }): ReactElement {
  return (
    <span className="ml-auto flex flex-none">
      <IconButton label={`Move ${step.id} up`} onClick={() => editor.move(key, -1)} className="max-md:hidden">
        <ArrowUp strokeWidth={1.5} />
      </IconButton>
      <IconButton label={`Move ${step.id} down`} onClick={() => editor.move(key, 1)} className="max-md:hidden">
        <ArrowDown strokeWidth={1.5} />
      </IconButton>
      <IconButton label={`Duplicate ${step.id}`} onClick={() => editor.duplicate(key)} className="max-md:hidden">
        <Copy strokeWidth={1.5} />
      </IconButton>
      <IconButton label={`Remove ${step.id}`} onClick={() => editor.remove(key)}>
        <Trash2 strokeWidth={1.5} />
      </IconButton>
    </span>
  )
}

/** The names of destinations and agents by id. */
function useNames(): (id: string) => string {
  const destinations = useDestinations()
  const agents = useAllAgents().data
  return useMemo(() => {
    const names = new Map(agents?.map(({ id, name }) => [id, name]))
    return (id) => names.get(id) ?? destinations.nameOf(id)
  }, [agents, destinations])
}
