import { capture } from './capture.ts'
import { delivery } from './delivery.ts'
import { project } from './project.ts'
import type { Tool } from './tool.ts'

export { verbOf, type Tool } from './tool.ts'

/** Every tool, in the order in which clients list them. */
export const TOOLS: readonly Tool[] = [...project, ...capture, ...delivery]
