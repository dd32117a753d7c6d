import { z } from 'zod'

/** A digital object identifier without its resolver, such as `10.5281/zenodo.1234567` (ISO 26324). */
export const Doi = z.string().regex(/^10\.\d{4,9}\/[!-~]+$/, { error: 'must be a DOI, such as 10.5281/zenodo.1234567' })
export type Doi = z.infer<typeof Doi>

/** The address that a DOI is cited by (https://www.doi.org/doi-handbook/HTML/displaying-doi-names.html). */
export function doiUrl(doi: Doi): string {
  return `https://doi.org/${doi.replaceAll(/[^A-Za-z0-9./_;()-]/g, encodeURIComponent)}`
}
