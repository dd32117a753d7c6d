/**
 * Loaded before a measured program (`--import`): where AS_OF lies ahead of the clock, the clock is moved there. A build
 * rejects dates after tomorrow, and the dataset has not begun 700 days ago yet.
 */
const { AS_OF = '' } = process.env
const ahead = Date.parse(AS_OF) - Date.now()

if (ahead > 0) {
  const RealDate = Date
  globalThis.Date = class extends RealDate {
    static override now(): number {
      return RealDate.now() + ahead
    }

    constructor(...words: [] | ConstructorParameters<DateConstructor>) {
      if (words.length === 0) super(RealDate.now() + ahead)
      else super(...words)
    }
  } as DateConstructor
}
