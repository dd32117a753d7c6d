import type { z } from 'zod'
import { phrase } from '../../pipeline/contract/issues.ts'
import { invalidRequest, type RequestIssue } from '../base/errors.ts'

/** How many issues of a body a response lists. Validation of a list stops after them. */
export const MAX_ISSUES = 20

/** Throws a 400 unless `value` fits. Does not return zod's copy, which drops `__proto__` and reorders keys. */
export function requireValid<S extends z.ZodType>(schema: S, value: unknown): asserts value is z.output<S> {
  const parsed = schema.safeParse(value, { error: phrase })
  if (!parsed.success) throw invalidRequest(describeIssues(parsed.error.issues))
}

function describeIssues(issues: z.core.$ZodIssue[]): RequestIssue[] {
  const faults = issues.flatMap((issue) => faultsOf(issue)).map(toRequestIssue)
  const more = faults.length - MAX_ISSUES
  if (more <= 0) return faults
  return [...faults.slice(0, MAX_ISSUES), { path: '', message: `and at least ${more} more` }]
}

/** An issue with the union branches that `tagged` added, outermost first. */
export interface Branched {
  branches?: string[]
}

interface Fault {
  path: PropertyKey[]
  branches: string[]
  message: string
}

function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  const inner = issue.code === 'invalid_union' ? meantBranch(issue) : undefined
  const here = { path: issue.path, branches: (issue as Branched).branches ?? [] }
  if (inner === undefined) return [{ ...here, message: issue.message }]
  return inner.flatMap(faultsOf).map(({ path, branches, message }) => ({
    path: [...here.path, ...path],
    branches: [...here.branches, ...branches],
    message,
  }))
}

/** Such as `messages[3].content[0].tool_use_id is required (tool_result)`. */
function toRequestIssue({ path, branches, message }: Fault): RequestIssue {
  if (path.length === 0) return { path: '', message: `the body ${message}` }
  return {
    path: path
      .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
      .join('')
      .replace(/^\./, ''),
    message: branches.length === 0 ? message : `${message} (${branches.join(' > ')})`,
  }
}

/** The issues of the branch that was meant: the last one that fits by type and, if it has one, by tag. */
function meantBranch({ errors }: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] | undefined {
  const fitting = errors.filter(([first]) => first !== undefined && !isOfOtherType(first))
  return fitting.findLast(([first]) => first !== undefined && !hasUnknownTag(first)) ?? fitting.at(-1)
}

function isOfOtherType({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')
}

function hasUnknownTag(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_union' && issue.discriminator !== undefined && issue.path.length === 1
}
