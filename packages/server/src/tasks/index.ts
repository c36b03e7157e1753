import type { Tasks } from '../platform/heavy/task.ts'
import { routeEvent } from '../pipeline/route/route-event.ts'
import { matchWaits, probeRecords } from '../pipeline/workflow/waits/compare.ts'
import { compareRoutes } from './compare-routes.ts'
import { decodeLarge } from './decode-body.ts'
import { dryRunPayloads } from './dry-run.ts'
import { dryRunWorkflow } from './dry-run-workflow.ts'
import { csvLines, parquetEnd, parquetRows } from './export-table.ts'
import { filterItems } from './filter-items.ts'
import { buildBlock, readTerms } from './index-block.ts'
import { learnPayloads } from './learn-schema.ts'
import { readConfigText } from './read-config.ts'
import { explainStored } from './explain-decision.ts'
import { findColumnsIn, writeRows } from './record-table.ts'
import { renderBody } from './render-template.ts'
import { checkProgram, runProgram } from './run-program.ts'
import { searchItems } from './search.ts'
import { renderStepValue, takenArm } from './workflow-step.ts'
import { tryProgram } from './try-program.ts'
import { writeObject } from './write-object.ts'

/** Every task that a thread can run. */
export const TASKS: Tasks = [
  buildBlock,
  checkProgram,
  compareRoutes,
  csvLines,
  decodeLarge,
  dryRunPayloads,
  dryRunWorkflow,
  explainStored,
  filterItems,
  findColumnsIn,
  learnPayloads,
  matchWaits,
  parquetEnd,
  parquetRows,
  probeRecords,
  readConfigText,
  readTerms,
  renderBody,
  renderStepValue,
  routeEvent,
  runProgram,
  searchItems,
  takenArm,
  tryProgram,
  writeObject,
  writeRows,
]
