// Checks proofs and notes with code of other authors: golang.org/x/mod/sumdb (Debian: golang-golang-x-mod-dev).
//
// One JSON object on the standard input, one on the standard output. Cosignatures are of a kind that x/mod does not
// know: its note package finds the line and the key, and Go's own Ed25519 checks what c2sp.org/tlog-cosignature says.
package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type proof struct {
	Size, Number int64
	Hashes       []string
}

type input struct {
	Entries           []string
	Inclusion, Extend []proof
	Notes             []struct {
		Text        string
		Keys, Tables []string
	}
	Sign string
}

type output struct {
	Roots   []string
	Refused []string
	Opened  []int
	Key     string
	Note    string
}

func decoded(texts []string) []tlog.Hash {
	found := make([]tlog.Hash, len(texts))
	for i, text := range texts {
		one, err := tlog.ParseHash(text)
		if err != nil {
			panic(err)
		}
		found[i] = one
	}
	return found
}

// cosigner is a note.Verifier of kind 4: a time, then an Ed25519 signature over a header, the time and the note.
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return c.hash }
func (c cosigner) Verify(msg, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	text := fmt.Sprintf("cosignature/v1\ntime %d\n%s", binary.BigEndian.Uint64(sig), msg)
	return ed25519.Verify(c.key, []byte(text), sig[8:])
}

func newCosigner(vkey string) cosigner {
	parts := strings.SplitN(vkey, "+", 3)
	data, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || data[0] != 4 {
		panic("no cosigner's key: " + vkey)
	}
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), data...))
	if fmt.Sprintf("%x", sum[:4]) != parts[1] {
		panic("its id is another: " + vkey)
	}
	return cosigner{parts[0], binary.BigEndian.Uint32(sum[:4]), ed25519.PublicKey(data[1:])}
}

func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		panic(err)
	}
	var out output
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, at := range indexes {
			found[i] = stored[at]
		}
		return found, nil
	})
	leaves := []tlog.Hash{}
	roots := []tlog.Hash{{}}
	for i, entry := range in.Entries {
		leaves = append(leaves, tlog.RecordHash([]byte(entry)))
		made, err := tlog.StoredHashes(int64(i), []byte(entry), reader)
		if err != nil {
			panic(err)
		}
		stored = append(stored, made...)
		root, err := tlog.TreeHash(int64(i+1), reader)
		if err != nil {
			panic(err)
		}
		roots = append(roots, root)
		out.Roots = append(out.Roots, root.String())
	}
	for _, one := range in.Inclusion {
		if err := tlog.CheckRecord(decoded(one.Hashes), one.Size, roots[one.Size], one.Number, leaves[one.Number]); err != nil {
			out.Refused = append(out.Refused, fmt.Sprintf("leaf %d of %d", one.Number, one.Size))
		}
	}
	for _, one := range in.Extend {
		if err := tlog.CheckTree(decoded(one.Hashes), one.Size, roots[one.Size], one.Number, roots[one.Number]); err != nil {
			out.Refused = append(out.Refused, fmt.Sprintf("%d extends %d", one.Size, one.Number))
		}
	}
	for _, one := range in.Notes {
		var known []note.Verifier
		for _, key := range one.Keys {
			verifier, err := note.NewVerifier(key)
			if err != nil {
				panic(err)
			}
			known = append(known, verifier)
		}
		for _, key := range one.Tables {
			known = append(known, newCosigner(key))
		}
		opened, err := note.Open([]byte(one.Text), note.VerifierList(known...))
		if err != nil {
			out.Opened = append(out.Opened, -1)
			continue
		}
		out.Opened = append(out.Opened, len(opened.Sigs))
	}
	skey, vkey, err := note.GenerateKey(nil, "outside.example/log")
	if err != nil {
		panic(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		panic(err)
	}
	signed, err := note.Sign(&note.Note{Text: in.Sign}, signer)
	if err != nil {
		panic(err)
	}
	out.Key, out.Note = vkey, string(signed)
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
