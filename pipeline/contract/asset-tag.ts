import { type Html, html } from './html.ts'

/**
 * The element by which a page loads a module script or a stylesheet. Browsers refuse bytes that do not have the hash
 * (W3C Subresource Integrity).
 *
 * @param sha384 of the bytes, in Base64
 */
export function assetTag(address: string, sha384: string): Html {
  return address.endsWith('.css')
    ? html`<link rel="stylesheet" href="${address}" integrity="sha384-${sha384}">\n`
    : html`<script type="module" src="${address}" integrity="sha384-${sha384}"></script>\n`
}
