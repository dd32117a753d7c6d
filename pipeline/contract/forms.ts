/** The first version with today's forms of what is published and kept. Raise it when one of them changes. */
export const FORMS = '1.0.0-alpha.1'

/** Whether a version of Tokenboard, as a manifest has it, came before today's forms. */
export function hasOtherForms(version: string): boolean {
  const [core, stage] = partsOf(version)
  const [ownCore, ownStage] = partsOf(FORMS)
  return core === ownCore ? stage < ownStage : core < ownCore
}

/** What is told of something that a version with other forms made. */
export function otherForms(version: string): string {
  return `an earlier version of Tokenboard, ${version}, made this, in forms that this one does not read`
}

/** The numbers of a version as one, and that of its alpha: a version without one comes after all of them. */
function partsOf(version: string): [core: number, stage: number] {
  const [core = '', alpha] = version.split('-alpha.')
  const [major = 0, minor = 0, patch = 0] = core.split('.').map(Number)
  return [major * 1e6 + minor * 1e3 + patch, alpha === undefined ? Number.POSITIVE_INFINITY : Number(alpha)]
}
