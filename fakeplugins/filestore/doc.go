// Package filestore is Velero's object store on the file system: a folder for each bucket, a file for each object.
//
// Its keys cannot leave the store's folder: neither by .., nor as absolute paths, nor through symbolic links. An object
// appears and changes at once, so that a process which dies while it puts one leaves the former one.
//
//	store, err := filestore.Open("/tmp/store")
//	…
//	defer store.Close()
//	err = store.Put("velosim", "backups/backup-1/velero-backup.json", body)
//
// The plugin executable serves it to Velero and tells the world of each access; worlds read it, and lose objects of it, in
// process. The package imports nothing but the standard library.
package filestore
