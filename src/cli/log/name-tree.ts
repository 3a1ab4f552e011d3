import { type FieldRole, KNOWN_NAMES, type OwnNames, ROLES } from './field-names.js'

/** A name, or the part of one before a dot. */
export interface NameNode {
  /** What the field is, if it is any. */
  readonly uses: NameUse[]
  /** The fields inside it. */
  readonly inner: NameTree
}

export interface NameUse {
  readonly role: FieldRole
  /** Of several fields of a role, the one with the smallest rank counts. */
  readonly rank: number
  /** The field, with dots if it is nested. */
  readonly name: string
}

export type NameTree = Map<string, NameNode>

/** The tree of the usual names, which takes milliseconds to make. */
let usualTree: NameTree | undefined

/** Returns the names of all roles. */
export function nameTree(ownNames: OwnNames): NameTree {
  if (Object.keys(ownNames).length > 0) return makeTree(ownNames)
  usualTree ??= makeTree(ownNames)
  return usualTree
}

function makeTree(ownNames: OwnNames): NameTree {
  const tree: NameTree = new Map()
  for (const role of ROLES) {
    const ownName = ownNames[role]
    if (ownName !== undefined)
      addName(
        tree,
        ownName.split('.').map((part) => [part]),
        { role, rank: 0 },
      )
    else if (!isReplaced(role, ownNames))
      for (const [rank, name] of KNOWN_NAMES[role].entries()) addName(tree, partsOf(name), { role, rank })
  }
  return tree
}

/** A path that is named is not read from another field. */
function isReplaced(role: FieldRole, { path, client, forwarded }: OwnNames): boolean {
  if (role === 'rewritten') return path !== undefined
  return role === 'forwarded' && client !== undefined && forwarded === undefined
}

function partsOf(name: string): string[][] {
  return name.split('.').map(spellingsOf)
}

/** Returns the spellings of words: `client_ip`, `client-ip`, `clientIp`, `clientIP`, `ClientIp`, `CLIENT_IP`. */
function spellingsOf(text: string): string[] {
  const words = text.split(' ')
  if (!/^[a-z\d ]+$/.test(text)) return [text]
  const titles = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  const acronyms = titles.map((word) => (/^(?:ip|id|uri|url)$/i.test(word) ? word.toUpperCase() : word))
  const [first = ''] = words
  return [
    ...[words, titles].flatMap((each) => [each.join('_'), each.join('-')]),
    ...[titles, acronyms].flatMap((each) => [each.join(''), first + each.slice(1).join('')]),
    words.join('').toLowerCase(),
    words.join('_').toUpperCase(),
  ]
}

type Use = Omit<NameUse, 'name'>

/** Adds a name whose parts have several spellings, nested and also with the dots in it. */
function addName(tree: NameTree, parts: readonly (readonly string[])[], use: Use, outer = ''): void {
  const [first = [], ...rest] = parts
  for (const spelling of new Set(first)) {
    const node = nodeOf(tree, spelling)
    if (rest.length === 0) {
      if (!node.uses.some(({ role }) => role === use.role)) node.uses.push({ ...use, name: outer + spelling })
      continue
    }
    addName(node.inner, rest, use, `${outer}${spelling}.`)
    const [second = [], ...others] = rest
    addName(tree, [second.map((each) => `${spelling}.${each}`), ...others], use, outer)
  }
}

function nodeOf(tree: NameTree, name: string): NameNode {
  const existing = tree.get(name)
  if (existing !== undefined) return existing
  const node: NameNode = { uses: [], inner: new Map() }
  tree.set(name, node)
  return node
}
