export { allowanceExhausted, findAllowance, holdAllowance, useAllowance, type Allowance } from './allowance.ts'
export { findUsage } from './queries.ts'
