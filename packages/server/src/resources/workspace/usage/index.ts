export {
  allowanceExhausted,
  findAllowance,
  findLimits,
  lockAllowance,
  useAllowance,
  type Allowance,
} from './allowance.ts'
export { findUsage } from './queries.ts'
