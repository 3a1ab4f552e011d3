import { didYouMean } from '../../arguments.js'
import { UsageError } from '../../failures.js'
import { apacheDirective, NGINX_NAMES, nginxVariable, type Role, type Variable } from './variables.js'

/** A variable, with the text before it. */
export interface TemplatePart extends Variable {
  readonly before: string
}

/** A log format: its variables in order, and the text after the last. */
export interface Template {
  readonly parts: readonly TemplatePart[]
  readonly after: string
}

const COMMON = '%h %l %u %t "%r" %>s %b'
const COMBINED = `${COMMON} "%{Referer}i" "%{User-Agent}i"`

/** The formats that have a name: of Apache, and `main` of nginx' own configuration. */
const NAMED: Readonly<Record<string, string>> = {
  common: COMMON,
  combined: COMBINED,
  vhost_combined: `%v:%p ${COMBINED}`,
  main: '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for"',
}

/** Reads the option `--format`. Throws a `UsageError` for a wrong one. */
export function parseTemplate(option: string): Template {
  const text = Object.hasOwn(NAMED, option) ? (NAMED[option] ?? '') : formatText(option)
  const isNginx = /\$\{?[a-z_]/i.test(text)
  if (!isNginx && !text.includes('%')) throw notAFormat(option)
  const template = joinParts(isNginx ? nginxParts(text) : apacheParts(text))
  checkRoles(template, isNginx)
  return template
}

function notAFormat(option: string): UsageError {
  const names = Object.keys(NAMED)
  const must = `${names.join(', ')}, or a log format of nginx or Apache`
  return new UsageError(
    `--format must be ${must}, got ${JSON.stringify(option)}${didYouMean('', option, names)}`,
  )
}

/** Returns a format without what stands around it in a configuration: its directive, quotes and line ends. */
function formatText(option: string): string {
  const bare = option
    .trim()
    .replace(/^log_format\s+\S+\s+(?:escape=\S+\s+)?/, '')
    .replace(/;$/, '')
  const apache = /^(?:LogFormat|CustomLog\s+\S+)\s+"(.*)"(?:\s+\S+)?$/s.exec(bare)
  const nginx = /^'[^']*'(?:\s+'[^']*')*$/.test(bare)
  const text = nginx ? bare.replace(/'\s+'/g, '').slice(1, -1) : (apache?.[1] ?? bare)
  return text.replaceAll('\\"', '"').replaceAll('\\t', '\t')
}

interface Parts {
  readonly parts: readonly TemplatePart[]
  readonly after: string
}

function nginxParts(text: string): Parts {
  const parts: TemplatePart[] = []
  let end = 0
  for (const { 0: whole, 1: braced, 2: bare, index } of text.matchAll(/\$(?:\{(\w+)\}|(\w+))/g)) {
    parts.push({ ...nginxVariable(braced ?? bare ?? ''), before: text.slice(end, index) })
    end = index + whole.length
  }
  return { parts, after: text.slice(end) }
}

/** A directive: its condition and place, its argument, its letter; or several that make one time. */
const DIRECTIVE = /%(?:%|[!,\d]*[<>]?(?:\{([^}]*)\})?([<>]?\^?[A-Za-z]{1,3}))/g

function apacheParts(text: string): Parts {
  const parts: TemplatePart[] = []
  let before = ''
  let end = 0
  for (const { 0: whole, 1: argument, 2: letters, index } of withSingleTimes(text).matchAll(DIRECTIVE)) {
    before += withSingleTimes(text).slice(end, index)
    end = index + whole.length
    if (letters === undefined) before += '%'
    else {
      const [variable, rest] = directiveOf(whole, letters, argument)
      const isBracketed = variable.role === 'time' && argument === undefined
      parts.push({ ...variable, before: isBracketed ? `${before}[` : before })
      before = isBracketed ? `]${rest}` : rest
    }
  }
  return { parts, after: before + withSingleTimes(text).slice(end) }
}

/** Returns a format in which a time of several directives, as with `.%{msec_frac}t`, is one. */
function withSingleTimes(text: string): string {
  return text.replace(/(%\{[^}]*\}t)(?:[.,:T ]%\{[^}]*\}t)+/g, '$1')
}

/** Returns a directive, and the text after its letter: only a few have several letters. */
function directiveOf(
  whole: string,
  letters: string,
  argument: string | undefined,
): readonly [directive: Variable, rest: string] {
  if (/^\^(?:ti|to|FB|FU)$/i.test(letters)) return [{ name: whole, role: undefined, rank: 0 }, '']
  const letter = letters.charAt(0)
  const rest = letters.slice(1)
  const directive = apacheDirective(whole.slice(0, whole.length - rest.length), letter, argument)
  if (directive !== undefined) return [directive, rest]
  throw new UsageError(`--format has ${JSON.stringify(whole)}, which Apache does not know`)
}

/**
 * Joins variables that stand together, such as `%U%q`: no text tells where one ends. Throws if both are read.
 */
function joinParts({ parts, after }: Parts): Template {
  const result: TemplatePart[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (last === undefined || part.before !== '') {
      result.push(part)
      continue
    }
    if (last.role !== undefined && part.role !== undefined) {
      const problem = `has nothing between ${last.name} and ${part.name}`
      throw new UsageError(`--format ${problem}; log them with a space between them`)
    }
    const { role, rank } = last.role === undefined ? part : last
    result[result.length - 1] = { ...last, name: last.name + part.name, role, rank }
  }
  return { parts: result, after }
}

function checkRoles({ parts }: Template, isNginx: boolean): void {
  const has = (...roles: readonly Role[]) =>
    parts.some(({ role }) => role !== undefined && roles.includes(role))
  if (!has('time')) throw missingVariable('time', isNginx ? '[$time_local]' : '%t', parts, isNginx)
  if (!has('address', 'forwarded'))
    throw missingVariable('IP address of a client', isNginx ? '$remote_addr' : '%h', parts, isNginx)
}

function missingVariable(
  what: string,
  fix: string,
  parts: readonly TemplatePart[],
  isNginx: boolean,
): UsageError {
  const near = isNginx ? spellingHint(parts) : ''
  return new UsageError(`--format has no ${what}, such as ${fix}${near}`)
}

/** Returns which variable of nginx a part may have meant. */
function spellingHint(parts: readonly TemplatePart[]): string {
  for (const { name, role } of parts) {
    const near = role === undefined ? didYouMean('$', name.slice(1), NGINX_NAMES) : ''
    if (near !== '') return `; for ${name},${near.slice(1)}`
  }
  return ''
}
