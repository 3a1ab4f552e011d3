/** While the tests of a block run, an environment variable names a server. */
export function nameServer(variable: string, url: () => string): void {
  const before = process.env[variable]

  beforeAll(() => {
    process.env[variable] = url()
  })

  afterAll(() => {
    if (before === undefined) delete process.env[variable]
    else process.env[variable] = before
  })
}
