/** Response headers in one flat list of names and values, as in `rawHeaders`: name, value, name, value. */
export type HeaderList = string[]

/** Calls `use` with each header of a list. Per-request code that has to be fast loops itself. */
export function eachHeader(headers: HeaderList, use: (name: string, value: string) => void): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]
    const value = headers[i + 1]
    if (name !== undefined && value !== undefined) use(name, value)
  }
}

/** Returns the headers of a list by name. */
export function headersByName(headers: HeaderList): Record<string, string> {
  const byName: Record<string, string> = {}
  eachHeader(headers, (name, value) => {
    byName[name] = value
  })
  return byName
}
