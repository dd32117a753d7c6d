const TOLD_MILLISECONDS = 2000

/** Shows the copy buttons if the browser allows copying: over HTTPS or locally. */
export function enableCopying(page: Document, clipboard: Pick<Clipboard, 'writeText'> | undefined): void {
  if (clipboard === undefined) return
  for (const button of page.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const source = page.getElementById(button.getAttribute('data-copy') ?? '')
    const label = button.firstChild
    if (source === null || label === null) continue
    const before = label.textContent
    button.hidden = false
    button.setAttribute('aria-live', 'polite')
    button.addEventListener('click', () => {
      const tell = (text: string) => {
        label.textContent = text
        setTimeout(() => {
          label.textContent = before
        }, TOLD_MILLISECONDS)
      }
      clipboard.writeText(source.textContent ?? '').then(
        () => tell('Copied'),
        () => tell('Not allowed'),
      )
    })
  }
}

enableCopying(document, navigator.clipboard)
