/**
 * What stands before and after the identity in a key, as in `hg:3:login:tb:{ada}`. A Redis Cluster finds the slot of
 * a key by the text in its braces.
 */
export const IDENTITY_START = ':{'
export const IDENTITY_END = '}'
