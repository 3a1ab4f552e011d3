const vm = require('node:vm')

const { compileFunction } = vm
/** By file name: a module's source, which jest keeps too, its parameters and its script. */
const scripts = new Map()

/**
 * Keeps what a jest worker compiles: V8 parses a module once, not again for each test file that loads it.
 * Each test file still runs the module anew, in its own global object. The callback for `import()` is left
 * out. Jest rejects `import()` without `--experimental-vm-modules`, and the callback would keep the first
 * test file's environment alive.
 */
vm.compileFunction = function compileOnce(source, parameters, options) {
  const { filename, parsingContext } = options ?? {}
  if (parsingContext === undefined) return compileFunction(source, parameters, options)
  const head = `(function (${parameters}) {`
  let kept = scripts.get(filename)
  if (kept?.source !== source || kept.head !== head) {
    const script = new vm.Script(`${head}${source}\n})`, { filename, columnOffset: -head.length })
    kept = { source, head, script }
    scripts.set(filename, kept)
  }
  return kept.script.runInContext(parsingContext)
}
